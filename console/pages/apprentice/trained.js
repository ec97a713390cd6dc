// What a training learned from, how it was judged, and what it made.

import { Facts, Section, Stat, Stats } from "../../components/page.js";
import { count, difference, duration, percent, score, size } from "../../format.js";
import { html } from "../../preact.js";

const SECOND_MS = 1_000;

/** The parts of a training that there are so far. */
export function Trained({ training }) {
  const { shortage, data, model, test } = training;
  return html`
    ${shortage && html`<${Shortage} shortage=${shortage} />`}
    ${test && html`<${Test} test=${test} />`}
    ${data && html`<${Data} data=${data} />`}
    ${model && html`<${Model} model=${model} />`}
  `;
}

function Shortage({ shortage }) {
  return html`
    <${Section} title="What it lacked">
      <${Facts} facts=${[
        ["To learn from", `${count(shortage.train)} of the ${count(shortage.trainNeeded)} examples that it takes`],
        ["Held out", `${count(shortage.holdout)} of the ${count(shortage.holdoutNeeded)} inputs that it takes, were all answers right`],
      ]} />
      <p class="note">Held out are inputs that nobody chose: those of the time before any version, and those that chance drew.</p>
    <//>
  `;
}

function Data({ data }) {
  return html`
    <${Section} title="Data">
      <${Facts} facts=${[
        ["Learned from", `${count(data.train)} examples`],
        ["Held out", `${count(data.holdout)} examples, which it never saw`],
        ["SHA-256 of what it learned from", html`<code>${data.trainSha256}</code>`],
        ["SHA-256 of what judges it", html`<code>${data.holdoutSha256}</code>`],
      ]} />
    <//>
  `;
}

function Model({ model }) {
  return html`
    <${Section} title="Model">
      <${Facts} facts=${[
        ["Name", html`<code>${model.name}</code>`],
        ["Size", size(model.sizeBytes)],
        ["Computed in", duration(model.seconds * SECOND_MS)],
        ["SHA-256", html`<code>${model.sha256}</code>`],
      ]} />
    <//>
  `;
}

function Test({ test }) {
  const { mean, bound, threshold, groups, fewestGroups, evidence, evidenceNeeded, attempt, examples, valid, slowMs, comparison, isGated, gate } = test;
  return html`
    <${Section} title="Test">
      <${Stats}>
        <${Stat} label="Agrees" value=${percent(mean)} hint=${`of ${count(groups)} groups of inputs; at least ${count(fewestGroups)} needed`} />
        <${Stat} label="At least" value=${percent(bound)} hint=${isGated ? "of all answers; its gate decides" : `has to be above ${percent(threshold)}`} />
        <${Stat} label="Evidence" value=${count(evidence)} hint=${isGated ? "of all answers, too" : `has to reach ${count(evidenceNeeded)}`} />
        <${Stat} label="Valid outputs" value=${percent(valid)} hint=${`of ${count(examples)} examples`} />
      <//>
      <${Facts} facts=${[
        ["Judged under this definition", attempt === 1 ? "the first model" : `${count(attempt - 1)} before it, so it has to show more`],
        ["95 % of answers took at most", duration(slowMs)],
        ["Beside", comparison && `version ${count(comparison.version)}, which served: ${comparison.isNoWorse ? "no worse" : "not shown to be as good"}, but for ${percent(comparison.margin)}`],
        ["Gate", gate && `of ${percent(gate.coverage)} of inputs it is sure enough (a confidence of ${score(gate.confidence)}), and ${percent(gate.agreement)} of those agree${isGated ? ": what it does on others has no say" : "; the task had no gate"}`],
        ["Difference", comparison && `${difference(comparison.meanDifference)} in the mean of ${count(comparison.groups)} groups; they differ on ${percent(comparison.differing)}`],
        ["Power", comparison?.power != null && `${percent(comparison.power)} to pass if both were equal; ${count(comparison.groupsForPower)} groups make it 80 %`],
      ].map(([title, value]) => [title, value || null])} />
    <//>
  `;
}
