// One task: how it is scored, what came of it over time, by model and by version.

import { useApi } from "../api.js";
import { Choice } from "../components/choice.js";
import { Copy } from "../components/copy.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { HeatMap } from "../components/heat-map.js";
import { LineChart } from "../components/line-chart.js";
import { Facts, FactsToCome, Page, Section, Stat, Stats } from "../components/page.js";
import { Reasons, ReasonsOverTime } from "../components/reasons.js";
import { ScoreBars } from "../components/score-bars.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, duration, percent, score, words } from "../format.js";
import { html } from "../preact.js";
import { go, link } from "../router.js";
import { decidedOf, PER, WINDOWS, windowName } from "./windows.js";

/** The task of an id; window, model and version lie in the query. */
export function Task({ id, query }) {
  const window = query.window ?? "7d";
  const { data, problem, again } = useApi(`tasks/${id}`);
  const all = useApi(`tasks/${id}/stats`, { window }, { every: 10 });
  const task = data?.task;
  const change = (changes) => link(["tasks", id], { ...query, ...changes });
  const actions = html`
    <${Choice} label="Time" options=${WINDOWS} value=${window} href=${(key) => change({ window: key === "7d" ? "" : key })} />
    <a class="button" href=${link(["tasks", id, "compare"])}>Compare models</a>`;
  return html`
    <${Page} title=${task?.name ?? "Task"} about=${task?.description} actions=${task ? actions : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!task && !problem && html`<${FactsToCome} />`}
      ${task && html`
        <${Settings} task=${task} />
        <${Outcome} id=${id} query=${query} window=${window} all=${all} change=${change} />`}
    <//>
  `;
}

function Settings({ task }) {
  const several = task.graders.length > 1;
  const graders = html`
    <ul class="plain-list">
      ${task.graders.map((one) => html`
        <li key=${one.graderId}><a href=${link(["graders", one.graderId])}><code>${one.graderId}</code></a>${several && ` × ${one.weight}`}</li>`)}
    </ul>`;
  return html`
    <${Facts} facts=${[
      ["Id", html`<${Copy} text=${task.id} />`],
      [several ? `${task.graders.length} graders, ${words(task.aggregation)}` : "Grader", graders],
      ["Quorum", several ? (task.quorum === null ? "all" : count(task.quorum)) : null],
      ["Deadline", task.deadlineSeconds === null ? "none" : duration(task.deadlineSeconds * 1_000)],
      ["Review", reviewOf(task.review)],
      ["Reviewers see", seenOf(task.review)],
      ["Second opinions", task.review && task.review.secondOpinionShare !== null && `on ${percent(task.review.secondOpinionShare)} of the reviews`],
      ["Answers can be corrected", task.review?.correctWithinMinutes > 0 && `for ${count(task.review.correctWithinMinutes)} min`],
      ["Kept", task.retentionDays === null ? "as long as all texts" : `${count(task.retentionDays)} days`],
      ["Judges not calibrated", task.uncalibrated],
      ["Graders see who asks", task.shareIdentity ? "yes" : "no"],
      ["Made", html`<${Time} at=${task.createdAt} />`],
      ["Changed", html`<${Time} at=${task.updatedAt} />`],
      ["Submitted to it", html`<a href=${link(["completions"], { task: task.id })}>completions</a>, <a href=${link(["batches"], { task: task.id })}>batches</a>`],
    ].filter(([, value]) => value !== false)} />`;
}

function reviewOf(review) {
  if (!review) return "no";
  const when = [
    review.confidenceBelow !== null && `confidence below ${review.confidenceBelow}`,
    review.disagreementAbove !== null && `graders differ by more than ${review.disagreementAbove}`,
    review.sampledShare !== null && `${percent(review.sampledShare)} of all`,
  ].filter(Boolean);
  return `${when.join("; ")}; ${words(review.onExpiry)} after ${duration(review.expiresAfterSeconds * 1_000)}`;
}

function seenOf(review) {
  if (!review) return null;
  const seen = [["instructions", review.instructions], ["reference", review.showReference], ["metadata", review.showMetadata]];
  return ["prompt", "response", ...seen.filter(([, is]) => is).map(([name]) => name)].join(", ");
}

function Outcome({ id, query, window, all, change }) {
  const { model, version } = query;
  const isFiltered = Boolean(model || version);
  const some = useApi(isFiltered ? `tasks/${id}/stats` : null, { window, model, graderVersion: version }, { every: 10 });
  const asked = isFiltered ? some : all;
  const stats = asked.data;
  const models = all.data?.models.map(({ modelId }) => modelId) ?? [];
  const versions = all.data?.versions.map(({ graderVersion }) => graderVersion) ?? [];
  const choose = (name) => (value) => go(["tasks", id], { ...query, [name]: value });
  const isUnused = all.data && decidedOf(all.data.totals) === 0;
  return html`
    <${Section} title=${windowName(window)}>
      <${Trouble} problem=${asked.problem ?? all.problem} again=${asked.again} />
      ${isUnused && !isFiltered ? html`
        <${Empty} title="Nothing was decided" command=${`autotune submit completions.jsonl --task ${id}`}>Look further back, or submit completions to this task.<//>` : html`
        <div class="filters">
          <${Field} label="Model" name="model" value=${model ?? ""} onInput=${choose("model")} options=${optionsOf(models, model)} data-search problem=${some.problem} />
          <${Field} label="Version of the grader" name="graderVersion" value=${version ?? ""} onInput=${choose("version")} options=${optionsOf(versions, version)} problem=${some.problem} />
        </div>
        <${TaskFigures} totals=${stats?.totals ?? null} />
        ${stats?.isComplete === false && html`<p class="hint">There are more counts than are read at once: the earliest are left out.</p>`}
        <${OverTime} stats=${stats} />
        <${By} title="By model" name="modelId" head="Model" rows=${all.data?.models ?? null} href=${(one) => change({ model: one })} />
        <${By} title="By version of the grader" name="graderVersion" head="Version" rows=${all.data?.versions ?? null} href=${(one) => change({ version: one })} />`}
    <//>
  `;
}

function optionsOf(names, chosen) {
  const all = chosen && !names.includes(chosen) ? [chosen, ...names] : names;
  return [["", "all"], ...all.map((name) => [name, name])];
}

function TaskFigures({ totals }) {
  const decided = totals && decidedOf(totals);
  const share = (value) => (decided ? `${percent(value / decided)} of verdicts` : undefined);
  const shown = (value) => (totals ? value() : null);
  return html`
    <${Stats}>
      <${Stat} label="Scored" value=${shown(() => count(totals.counts.scored))} hint=${totals && share(totals.counts.scored)} />
      <${Stat} label="Mean score" value=${shown(() => score(totals.avgScore))} />
      <${Stat} label="Abstained" value=${shown(() => count(totals.counts.abstained))} hint=${totals && share(totals.counts.abstained)} />
      <${Stat} label="Failed" value=${shown(() => count(totals.counts.failed))} hint=${totals && share(totals.counts.failed)} />
      <${Stat} label="p50 turnaround" value=${shown(() => duration(totals.p50TurnaroundMs))} hint="half within" />
      <${Stat} label="p99 turnaround" value=${shown(() => duration(totals.p99TurnaroundMs))} hint="99 of 100 within" />
    <//>
  `;
}

function OverTime({ stats }) {
  const buckets = stats?.buckets ?? null;
  const starts = buckets && buckets.map(({ start }) => start);
  const per = stats ? PER[stats.bucketSeconds] : "";
  const line = (tone, name, value) => ({ name, tone, values: buckets ? buckets.map(value) : [] });
  return html`
    <div class="charts">
      <div>
        <h3 class="chart-title">Scores over time</h3>
        <${HeatMap} label="Scores over time" starts=${starts} columns=${buckets && buckets.map((bucket) => bucket.scoreDistribution)} />
      </div>
      <div>
        <h3 class="chart-title">Scores in all</h3>
        <${ScoreBars} distribution=${stats?.totals.scoreDistribution ?? null} />
      </div>
      <div>
        <h3 class="chart-title">Mean score</h3>
        <${LineChart} soFar label="Mean score" starts=${starts} show=${score} series=${[line("accent", "mean", (bucket) => bucket.avgScore)]} />
      </div>
      <div>
        <h3 class="chart-title">Verdicts ${per && `per ${per}`}</h3>
        <${LineChart} soFar label="Verdicts" starts=${starts} show=${count} series=${[
          line("accent", "scored", (bucket) => bucket.counts.scored),
          line("warning", "abstained", (bucket) => bucket.counts.abstained),
          line("trouble", "failed", (bucket) => bucket.counts.failed),
        ]} />
      </div>
      <div>
        <h3 class="chart-title">Failures by reason ${per && `per ${per}`}</h3>
        <${ReasonsOverTime} buckets=${buckets} failures=${stats?.totals.failures} />
      </div>
      <div>
        <h3 class="chart-title">Failures by reason in all</h3>
        <${Reasons} failures=${stats?.totals.failures ?? null} decided=${stats && decidedOf(stats.totals)} />
      </div>
    </div>
  `;
}

function By({ title, name, head, rows, href }) {
  const columns = [
    { name, title: head, width: 14 },
    { name: "scored", title: "Scored", width: 6, numeric: true, cell: (row) => count(row.counts.scored) },
    { name: "mean", title: "Mean score", width: 7, numeric: true, cell: (row) => score(row.avgScore) },
    { name: "abstained", title: "Abstained", width: 7, numeric: true, cell: (row) => count(row.counts.abstained) },
    { name: "failed", title: "Failed", width: 6, numeric: true, cell: (row) => count(row.counts.failed) },
    { name: "p50", title: "p50", width: 6, numeric: true, cell: (row) => duration(row.p50TurnaroundMs) },
    { name: "p99", title: "p99", width: 6, numeric: true, cell: (row) => duration(row.p99TurnaroundMs) },
  ];
  return html`
    <${Section} title=${title}>
      <${Table} label=${title} columns=${columns} rows=${rows} skeletons=${2} id=${(row) => row[name]} href=${(row) => href(row[name])} empty=${html`<p class="nothing none">Nothing was decided.</p>`} />
    <//>
  `;
}
