// What a grader scored: over time, in all, by version.

import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { HeatMap } from "../components/heat-map.js";
import { LineChart } from "../components/line-chart.js";
import { Section, Stat, Stats } from "../components/page.js";
import { Reasons, ReasonsOverTime } from "../components/reasons.js";
import { ScoreBars } from "../components/score-bars.js";
import { Table } from "../components/table.js";
import { Trouble } from "../components/trouble.js";
import { count, duration, percent, score } from "../format.js";
import { html } from "../preact.js";
import { go } from "../router.js";
import { decidedOf, PER } from "./windows.js";

/** The figures of the answer in `stats`; `choice` is that of the window, `change` links to another view, `decided` to its verdicts. */
export function GraderFigures({ id, query, stats, choice, change, decided }) {
  const found = stats.data;
  const { version } = query;
  const known = found?.versions.map((one) => one.version) ?? [];
  const names = version && !known.includes(version) ? [version, ...known] : known;
  const isUnused = found && !version && decidedOf(found) === 0;
  return html`
    <${Section} title="Figures" actions=${choice}>
      <${Trouble} problem=${stats.problem} again=${stats.again} />
      ${isUnused ? html`
        <${Empty} title="It decided nothing in this time" command=${`autotune tasks create --name NAME --grader ${id}`}>Look further back, or name it in a task.<//>` : html`
        <div class="filters">
          <${Field} label="Version" name="version" data-search value=${version ?? ""} onInput=${(value) => go(["graders", id], { ...query, version: value })} problem=${stats.problem}
            options=${[["", "all"], ...names.map((name) => [name, name])]} />
          <a class="button" href=${decided}>Its completions</a>
        </div>
        <${InAll} found=${found} />
        ${found?.overTime?.isComplete === false && html`<p class="hint">There are more counts than are read at once: the earliest are left out.</p>`}
        <${Charts} found=${found} isOfAllTime=${query.window === "all"} />
        <${Versions} rows=${found?.versions ?? null} change=${change} />`}
    <//>
  `;
}

function InAll({ found }) {
  const decided = found && decidedOf(found);
  const shown = (value) => (found ? value() : null);
  return html`
    <${Stats}>
      <${Stat} label="Scored" value=${shown(() => count(found.counts.scored))} hint=${found && `mean ${score(found.avgScore)}`} />
      <${Stat} label="Abstained" value=${shown(() => count(found.counts.abstained))} hint=${decided ? `${percent(found.counts.abstained / decided)} of verdicts` : undefined} />
      <${Stat} label="Failed" value=${shown(() => count(found.counts.failed))} hint=${found?.lateAnswers ? `${count(found.lateAnswers)} answers came late` : undefined} />
      <${Stat} label="Error rate" value=${shown(() => percent(found.errorRate))} />
      <${Stat} label="p50 latency" value=${shown(() => duration(found.p50LatencyMs))} hint=${found && `mean ${duration(found.avgLatencyMs)}`} />
      <${Stat} label="p99 latency" value=${shown(() => duration(found.p99LatencyMs))} />
    <//>
  `;
}

function Charts({ found, isOfAllTime }) {
  const buckets = found?.overTime?.buckets ?? null;
  const starts = buckets && buckets.map(({ start }) => start);
  const per = buckets ? PER[found.overTime.bucketSeconds] : "";
  const line = (tone, name, value) => ({ name, tone, values: buckets ? buckets.map(value) : [] });
  const isOverTime = !isOfAllTime;
  return html`
    <div class="charts">
      ${isOverTime && html`
        <div>
          <h3 class="chart-title">Verdicts ${per && `per ${per}`}</h3>
          <${LineChart} soFar label="Verdicts" starts=${starts} show=${count} series=${[
            line("accent", "scored", (bucket) => bucket.counts.scored),
            line("warning", "abstained", (bucket) => bucket.counts.abstained),
            line("trouble", "failed", (bucket) => bucket.counts.failed),
          ]} />
        </div>
        <div>
          <h3 class="chart-title">Latency</h3>
          <${LineChart} soFar label="Latency" starts=${starts} show=${duration} series=${[
            line("accent", "p50", (bucket) => bucket.p50LatencyMs),
            line("warning", "p99", (bucket) => bucket.p99LatencyMs),
          ]} />
        </div>
        <div>
          <h3 class="chart-title">Error rate</h3>
          <${LineChart} soFar label="Error rate" starts=${starts} show=${percent} series=${[line("trouble", "of verdicts", (bucket) => bucket.errorRate)]} />
        </div>
        <div>
          <h3 class="chart-title">Failures by reason ${per && `per ${per}`}</h3>
          <${ReasonsOverTime} buckets=${buckets} failures=${found?.failures} />
        </div>
        <div>
          <h3 class="chart-title">Scores over time</h3>
          <${HeatMap} label="Scores over time" starts=${starts} columns=${buckets && buckets.map((bucket) => bucket.scoreDistribution)} />
        </div>`}
      <div>
        <h3 class="chart-title">Scores in all</h3>
        <${ScoreBars} distribution=${found?.scoreDistribution ?? null} />
      </div>
      <div>
        <h3 class="chart-title">Failures by reason in all</h3>
        <${Reasons} failures=${found?.failures ?? null} decided=${found && decidedOf(found)} />
      </div>
    </div>
  `;
}

function Versions({ rows, change }) {
  const columns = [
    { name: "version", title: "Version", width: 12 },
    { name: "scored", title: "Scored", width: 6, numeric: true, cell: (row) => count(row.counts.scored) },
    { name: "mean", title: "Mean score", width: 7, numeric: true, cell: (row) => score(row.avgScore) },
    { name: "abstained", title: "Abstained", width: 7, numeric: true, cell: (row) => count(row.counts.abstained) },
    { name: "failed", title: "Failed", width: 6, numeric: true, cell: (row) => count(row.counts.failed) },
    { name: "errors", title: "Error rate", width: 7, numeric: true, cell: (row) => percent(row.errorRate) },
    { name: "p50", title: "p50", width: 6, numeric: true, cell: (row) => duration(row.p50LatencyMs) },
    { name: "p99", title: "p99", width: 6, numeric: true, cell: (row) => duration(row.p99LatencyMs) },
  ];
  return html`
    <${Section} title="By version">
      <${Table} label="By version" columns=${columns} rows=${rows} skeletons=${2} id=${(row) => row.version} href=${(row) => change({ version: row.version })}
        empty=${html`<p class="nothing none">Nothing was decided.</p>`} />
    <//>
  `;
}
