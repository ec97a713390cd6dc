// How far a grader and people agree.

import { useApi } from "../api.js";
import { Empty } from "../components/empty.js";
import { Section, Stat, Stats } from "../components/page.js";
import { Trouble } from "../components/trouble.js";
import { count, percent, score } from "../format.js";
import { html } from "../preact.js";

// Days of reviews by the window of the page; further back than 90 days none are counted.
const WINDOWS = { "24h": "1d", "7d": "7d", "30d": "30d", all: "90d" };
const NAMES = { "1d": "today", "7d": "of 7 days", "30d": "of 30 days", "90d": "of 90 days" };

/** Of a grader's scores and those of people who answered without having seen them. */
export function GraderAgreement({ id, window }) {
  const days = WINDOWS[window] ?? "30d";
  const { data, problem, again } = useApi("reviews/agreement", { graderId: id, window: days });
  const found = data?.agreement ?? null;
  const shown = (value) => (found ? value() : null);
  return html`
    <${Section} title="Agreement with people">
      <${Trouble} problem=${problem} again=${again} />
      ${found?.pairs === 0 ? html`
        <${Empty} title="No person answered what it scored" command="autotune tasks update TASK_ID --review-sampled-share 0.05">
          Have people judge a share of its completions: who answers without looking at its scores is compared with it.
        <//>` : html`
        <${Stats}>
          <${Stat} label="Compared" value=${shown(() => count(found.pairs))} hint=${`reviews ${NAMES[days]}`} />
          <${Stat} label="Same score" value=${shown(() => percent(found.shareWithinTolerance))} hint=${found && `within ${found.tolerance}`} />
          <${Stat} label="Mean difference" value=${shown(() => score(found.meanAbsoluteDifference))} hint="of the two scores" />
          <${Stat} label="Weighted kappa" value=${shown(() => score(found.weightedKappa))} hint="1 all agree, 0 chance" />
        <//>`}
    <//>
  `;
}
