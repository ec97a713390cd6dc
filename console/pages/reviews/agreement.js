// How far two people agree, where a second opinion was asked.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Stat, Stats } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { count, percent, score } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go } from "../../router.js";
import { ReviewsPage } from "./frame.js";

const WINDOWS = [["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]];

export function Agreement({ query, mayAsk }) {
  const window = query.window ?? "30d";
  const { data, problem, again } = useApi("reviews/agreement", { taskId: query.task, window });
  const [task, setTask] = useState(query.task ?? "");
  const found = data?.agreement ?? null;
  const look = (event) => {
    event.preventDefault();
    go(["reviews", "agreement"], { ...query, task: task.trim() });
  };
  const value = (show) => found && show(found);
  return html`
    <${ReviewsPage} open="Agreement" mayAsk=${mayAsk} about="Where a second person was asked, without seeing the first one’s answer: how far apart they are.">
      <form class="filters" onSubmit=${look} role="search">
        <${Field} label="Time" name="window" value=${window} onInput=${(chosen) => go(["reviews", "agreement"], { ...query, window: chosen })} options=${WINDOWS} problem=${problem} />
        <${Field} label="Task" name="taskId" value=${task} onInput=${setTask} problem=${problem} placeholder="all" data-search />
        <button type="submit">Look</button>
      </form>
      <${Trouble} problem=${problem} again=${again} />
      ${found?.pairs === 0
        ? html`
          <${Empty} title="No review has two answers in this time" command="autotune tasks create --name NAME --grader GRADER_ID --review-second-opinion-share 0.1">
            A task has a share of its reviews answered by a second person, too.
          <//>`
        : !(problem && !found) && html`
          <${Stats} key=${found ? "there" : "to come"}>
            <${Stat} label="Pairs" value=${value(({ pairs }) => count(pairs))} hint=${value(({ since }) => `since ${since.slice(0, 10)}`)} />
            <${Stat} label="Agree" value=${value(({ shareWithinTolerance }) => percent(shareWithinTolerance))} hint=${value(({ withinTolerance, pairs, tolerance }) => `${count(withinTolerance)} of ${count(pairs)} within ${tolerance}`)} />
            <${Stat} label="Mean difference" value=${value(({ meanAbsoluteDifference }) => score(meanAbsoluteDifference))} hint="of scores from 0 to 1" />
            <${Stat} label="Weighted kappa" value=${value(({ weightedKappa }) => score(weightedKappa))} hint="1 is agreement, 0 chance" />
          <//>
          ${found && html`<p class="hint">Kappa is Cohen’s, with quadratic weights over tenths. It is missing where one of both always gave the same score.</p>`}`}
    <//>
  `;
}
