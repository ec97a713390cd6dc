// Two models of a task on the prompts that both answered.

import { useApi } from "../api.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Interval } from "../components/interval.js";
import { FactsToCome, Page, Section, Stat, Stats } from "../components/page.js";
import { Proportions } from "../components/proportions.js";
import { Table } from "../components/table.js";
import { Trouble } from "../components/trouble.js";
import { count, difference, score } from "../format.js";
import { html } from "../preact.js";
import { go, link } from "../router.js";

const TOLERANCES = ["0", "0.01", "0.05", "0.1", "0.2"];
const USUAL = "0";

/** Compares models `a` and `b` of the query at a task; `example` is the prompt whose texts are shown. */
export function Comparison({ id, query }) {
  const { a, b } = query;
  const tolerance = query.tolerance ?? USUAL;
  const task = useApi(`tasks/${id}`);
  const stats = useApi(`tasks/${id}/stats`, { window: "30d" });
  const isAsked = Boolean(a && b);
  const { data, problem, again } = useApi(isAsked ? `tasks/${id}/comparison` : null, { a, b, tolerance });
  const name = task.data?.task.name;
  const choose = (field) => (value) => go(["tasks", id, "compare"], { ...query, [field]: value, example: "" });
  const models = (stats.data?.models ?? []).map(({ modelId }) => modelId);
  const trouble = problem ?? task.problem;
  // What stands below the title comes once that is known.
  const isKnown = task.data !== null || task.problem !== null;
  return html`
    <${Page} title=${name ? `Compare models of ${name}` : "Compare models"} about=${isKnown && "On the prompts that both answered, so that neither is judged by easier ones."}
      actions=${isKnown ? html`<a class="button" href=${link(["tasks", id])}>Back to the task</a>` : null}>
      ${!isKnown && html`<${FactsToCome} />`}
      ${isKnown && html`
      <div class="filters">
        <${Model} label="Model A" name="a" isFirst value=${a} models=${models} isLoading=${!stats.data && !stats.problem} onInput=${choose("a")} problem=${problem} />
        <${Model} label="Model B" name="b" value=${b} models=${models} isLoading=${!stats.data && !stats.problem} onInput=${choose("b")} problem=${problem} />
        <${Field} label="A tie is within" name="tolerance" value=${tolerance} onInput=${choose("tolerance")} problem=${problem}
          options=${[...new Set([...TOLERANCES, tolerance])].map((one) => [one, one])} />
      </div>
      <${Trouble} problem=${trouble} again=${problem ? again : task.again} />
      ${!trouble && !isAsked && html`<${Choose} id=${id} models=${stats.data && models} />`}
      ${!trouble && isAsked && html`<${Found} id=${id} query=${query} found=${data} />`}`}
    <//>
  `;
}

function Model({ label, name, isFirst, value = "", models, isLoading, onInput, problem }) {
  const known = value && !models.includes(value) ? [value, ...models] : models;
  const options = [["", isLoading ? "Loading" : "Choose a model"], ...known.map((model) => [model, model])];
  return html`<${Field} label=${label} name=${name} value=${value} onInput=${onInput} options=${options} problem=${problem} data-search=${isFirst} />`;
}

function Choose({ id, models }) {
  if (models === null) return html`<p class="nothing none" aria-busy="true">Loading the models</p>`;
  if (models.length < 2) {
    return html`
      <${Empty} title="There are no two models to compare" command=${`autotune submit completions.jsonl --task ${id} --model MODEL_ID`}>
        Submit what another model, or another checkpoint, answers to the same prompts.
      <//>`;
  }
  return html`<${Empty} title="Choose two models" command=${`autotune tasks compare ${id} ${models[0]} ${models[1]}`}>Those of the last 30 days can be chosen.<//>`;
}

function Found({ id, query, found }) {
  const { a, b } = query;
  if (found?.prompts === 0) {
    return html`
      <${Empty} title="There is no prompt that both answered" command=${`autotune submit completions.jsonl --task ${id} --model ${b}`}>
        Of ${count(found.a.scores)} scores of ${a} and ${count(found.b.scores)} of ${b}, none are of the same prompt by the same version of the grader.
      <//>`;
  }
  const shown = (value) => (found ? value() : null);
  const interval = found?.interval;
  return html`
    <${Stats} key=${found ? "there" : "to come"}>
      <${Stat} label="Prompts of both" value=${shown(() => count(found.prompts))} hint=${found && `${count(found.scoresRead)} scores were read`} />
      <${Stat} label="Mean of A" value=${shown(() => score(found.a.avgScore))} hint=${found && `${count(found.a.scores)} scores`} />
      <${Stat} label="Mean of B" value=${shown(() => score(found.b.avgScore))} hint=${found && `${count(found.b.scores)} scores`} />
      <${Stat} label="B less A" value=${shown(() => difference(found.meanDifference))} hint="mean over prompts" />
    <//>
    ${found && !found.isComplete && html`<p class="hint">Only the latest scores of both were read: there are more.</p>`}
    ${found?.withoutText > 0 && html`<p class="hint">${count(found.withoutText)} scores are left out: their prompts were deleted or have expired.</p>`}
    ${found && html`
      <div class="charts">
        <div>
          <h2 class="chart-title">Difference of means</h2>
          <${Interval} label="B less A" value=${found.meanDifference} low=${interval?.low ?? null} high=${interval?.high ?? null} ends=${["A is better", "B is better"]} told=${verdict(interval)} />
        </div>
        <div>
          <h2 class="chart-title">By prompt</h2>
          <${Proportions} label="Prompts" parts=${[
            { name: "B wins", value: found.wins, tone: "accent" },
            { name: "ties", value: found.ties, tone: "plain" },
            { name: "A wins", value: found.losses, tone: "warning" },
          ]} />
        </div>
      </div>`}
    ${found && html`<${Examples} id=${id} query=${query} found=${found} />`}
  `;
}

function verdict(interval) {
  if (!interval) return "One prompt says nothing of how sure that is.";
  const range = `95 % interval ${difference(interval.low)} to ${difference(interval.high)}`;
  if (interval.low > 0) return `${range}: B is better.`;
  return interval.high < 0 ? `${range}: A is better.` : `${range}. Zero lies within: no clear difference.`;
}

function Examples({ id, query, found }) {
  const { a, b, example } = query;
  const rows = found.examples;
  const open = rows.find((one) => one.b.completionId === example) ?? rows[0];
  const columns = [
    { name: "difference", title: "B less A", width: 7, cell: (one) => difference(one.difference) },
    { name: "a", title: `A: ${a}`, width: 14, numeric: true, cell: ({ a: side }) => told(side) },
    { name: "b", title: `B: ${b}`, width: 14, numeric: true, cell: ({ b: side }) => told(side) },
  ];
  const isOpen = (one) => one === open;
  return html`
    <${Section} title="What changed most">
      <${Table} label="Examples" columns=${columns} rows=${rows} id=${(one) => one.b.completionId} isOpen=${isOpen}
        href=${(one) => link(["tasks", id, "compare"], { ...query, example: one.b.completionId })} />
    <//>
    ${open && html`<${SideBySide} open=${open} a=${a} b=${b} />`}
  `;
}

function told({ avgScore, scores }) {
  return scores > 1 ? `${score(avgScore)} (mean of ${count(scores)})` : score(avgScore);
}

function SideBySide({ open, a, b }) {
  const left = useApi(`completions/${open.a.completionId}`);
  const right = useApi(`completions/${open.b.completionId}`);
  const prompt = (left.data ?? right.data)?.completion.prompt;
  const both = [[`A: ${a}`, left, open.a], [`B: ${b}`, right, open.b]];
  const isThere = both.every(([, { data, problem }]) => data !== null || problem !== null);
  return html`
    <${Section} key=${isThere ? "texts" : "texts to come"} title="Side by side">
      <h3 class="chart-title">Prompt</h3>
      <${Text} label="Prompt" text=${prompt} />
      ${isThere && html`<div class="charts">
        ${both.map(([name, { data, problem, again }, side]) => html`
          <div key=${name}>
            <h3 class="chart-title"><a href=${link(["completions", side.completionId])}>${name}</a>, ${told(side)}</h3>
            <${Trouble} problem=${problem} again=${again} />
            ${!problem && html`<${Text} label=${name} text=${data?.completion.response} />`}
          </div>`)}
      </div>`}
    <//>
  `;
}

function Text({ label, text }) {
  const isThere = text !== undefined;
  return html`<pre class="body text" tabindex="0" role="region" aria-label=${label} aria-busy=${!isThere}>${text ?? "\u00a0"}</pre>`;
}
