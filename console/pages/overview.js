// What happens, and what stands in its way.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Choice } from "../components/choice.js";
import { Empty } from "../components/empty.js";
import { LineChart } from "../components/line-chart.js";
import { Page, Section, Stat, Stats } from "../components/page.js";
import { Reasons, ReasonsOverTime } from "../components/reasons.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { ago, count, duration, nanoDollars, percent, score, words } from "../format.js";
import { html } from "../preact.js";
import { link } from "../router.js";
import { decidedOf, PER, WINDOWS, windowName } from "./windows.js";

const OPTIONS = [["1h", "1 hour"], ...WINDOWS];

export const title = "Overview";

export default function Overview({ query }) {
  const window = query.window ?? "24h";
  const { data, problem, again } = useApi("overview", { window }, { every: 5 });
  const overview = data?.overview ?? null;
  return html`
    <${Page} title=${title} about="What was submitted and decided, what is open, and what holds it up. It is kept up to date."
      actions=${html`<${Choice} label="Time" options=${OPTIONS} value=${window} href=${(key) => link([""], { window: key === "24h" ? "" : key })} />`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!(problem && !overview) && html`
        <${Now} overview=${overview} />
        <${Work} overview=${overview} window=${window} />
        <${Obstacles} overview=${overview} />
        <${Budgets} budgets=${overview?.budgets ?? null} />`}
    <//>
  `;
}

function Now({ overview }) {
  const open = overview?.open;
  const stuck = overview?.stuck;
  const circuits = overview?.circuits.length;
  const [today] = overview?.budgets ?? [];
  const most = "of those that were looked at";
  return html`
    <${Section} title="Now">
      <${Stats}>
        <${Stat} label="Open completions" value=${open ? count(open.completions) : null} hint="not decided" />
        <${Stat} label="Oldest open" value=${open ? (open.oldestSubmittedAt ? ago(open.oldestSubmittedAt) : "none") : null} hint=${open?.isComplete === false ? most : open?.oldestSubmittedAt ? "submitted" : undefined} />
        <${Stat} label="Open batches" value=${open ? count(open.batches) : null} hint=${open?.isComplete === false ? most : undefined} />
        <${Stat} label="Overdue batches" value=${stuck ? count(stuck.total) : null} tone=${stuck?.total > 0 ? "trouble" : undefined} hint=${stuck?.isComplete === false ? most : undefined} />
        <${Stat} label="Circuits open" value=${overview ? count(circuits) : null} tone=${circuits > 0 ? "trouble" : undefined} hint="not called" />
        <${Stat} label="Spent today" value=${overview ? nanoDollars(today?.spentNanoUsd ?? 0) : null} hint=${limitOf(today)} />
      <//>
    <//>
  `;
}

function Work({ overview, window }) {
  const name = windowName(window, OPTIONS);
  const totals = overview?.totals;
  const isQuiet = overview && overview.open.completions === 0 && totals.submitted === 0 && decidedOf(totals) === 0;
  if (isQuiet) {
    return html`
      <${Section} title=${name}>
        <${Empty} title="Nothing was submitted" command="autotune submit completions.jsonl --task TASK_ID">
          Look further back, or submit completions to a <a href=${link(["tasks"])}>task</a>.
        <//>
      <//>`;
  }
  const buckets = overview?.buckets ?? null;
  const starts = buckets && buckets.map(({ start }) => start);
  const per = overview ? PER[overview.bucketSeconds] : "";
  const line = (tone, label, value) => ({ name: label, tone, values: buckets ? buckets.map(value) : [] });
  return html`
    <${Section} title=${name}>
      <${Figures} totals=${totals} />
      ${overview?.isComplete === false && html`<p class="hint">There are more counts than are read at once: the earliest are left out.</p>`}
      <div class="charts">
        <div>
          <h3 class="chart-title">Completions ${per && `per ${per}`}</h3>
          <${LineChart} soFar label="Completions" starts=${starts} show=${count} series=${[
            line("plain", "submitted", (bucket) => bucket.submitted),
            line("accent", "scored", (bucket) => bucket.counts.scored),
            line("warning", "abstained", (bucket) => bucket.counts.abstained),
            line("trouble", "failed", (bucket) => bucket.counts.failed),
          ]} />
        </div>
        <div>
          <h3 class="chart-title">Turnaround, from submitted to decided</h3>
          <${LineChart} soFar label="Turnaround" starts=${starts} show=${duration} series=${[
            line("accent", "p50", (bucket) => bucket.p50TurnaroundMs),
            line("warning", "p99", (bucket) => bucket.p99TurnaroundMs),
          ]} />
        </div>
        <div>
          <h3 class="chart-title">Failures by reason ${per && `per ${per}`}</h3>
          <${ReasonsOverTime} buckets=${buckets} failures=${totals?.failures} />
        </div>
        <div>
          <h3 class="chart-title">Failures by reason in all</h3>
          <${Reasons} failures=${totals?.failures ?? null} decided=${totals && decidedOf(totals)} />
        </div>
      </div>
    <//>
  `;
}

function Figures({ totals }) {
  const decided = totals && decidedOf(totals);
  const share = (value) => (decided ? `${percent(value / decided)} of verdicts` : undefined);
  const shown = (value) => (totals ? value() : null);
  return html`
    <${Stats}>
      <${Stat} label="Submitted" value=${shown(() => count(totals.submitted))} hint=${totals?.counts.canceled ? `${count(totals.counts.canceled)} canceled` : undefined} />
      <${Stat} label="Scored" value=${shown(() => count(totals.counts.scored))} hint=${totals && `mean ${score(totals.avgScore)}`} />
      <${Stat} label="Abstained" value=${shown(() => count(totals.counts.abstained))} hint=${totals && share(totals.counts.abstained)} />
      <${Stat} label="Failed" value=${shown(() => count(totals.counts.failed))} hint=${totals && share(totals.counts.failed)} />
      <${Stat} label="p50 turnaround" value=${shown(() => duration(totals.p50TurnaroundMs))} hint="half within" />
      <${Stat} label="p99 turnaround" value=${shown(() => duration(totals.p99TurnaroundMs))} hint="99 of 100 within" />
    <//>
  `;
}

function Obstacles({ overview }) {
  const overdue = [
    { name: "batchId", title: "Batch", width: 18, cell: (batch) => html`<code>${batch.batchId}</code>` },
    { name: "submittedAt", title: "Submitted", width: 12, cell: (batch) => html`<${Time} at=${batch.submittedAt} />` },
    { name: "dueAt", title: "Overdue since", width: 9, cell: (batch) => html`<${Time} at=${batch.dueAt} relative />` },
    { name: "sweeps", title: "Sweeps", width: 6, numeric: true, cell: (batch) => count(batch.sweeps) },
  ];
  const circuits = [
    { name: "name", title: "Grader", width: 14 },
    { name: "state", title: "Circuit", width: 7, cell: (circuit) => html`<${Badge} tone=${circuit.state === "open" ? "trouble" : "warning"}>${circuit.state}<//>` },
    { name: "reasonCode", title: "Last failed with", width: 13, cell: (circuit) => html`<code>${circuit.reasonCode ?? "–"}</code>` },
    { name: "lastFailedAt", title: "Last failed", width: 9, cell: (circuit) => html`<${Time} at=${circuit.lastFailedAt} relative />` },
    { name: "openUntil", title: "Tried again", width: 9, cell: (circuit) => html`<${Time} at=${circuit.openUntil} relative />` },
  ];
  const stuck = overview?.stuck;
  const more = stuck && stuck.total > stuck.batches.length ? `, the ${count(stuck.batches.length)} longest of ${count(stuck.total)}` : "";
  return html`
    <${Section} title=${`Overdue batches${more}`}>
      <${Table} label="Overdue batches" columns=${overdue} rows=${stuck?.batches ?? null} skeletons=${1} id=${(batch) => batch.batchId} href=${(batch) => link(["batches", batch.batchId])}
        empty=${html`<p class="nothing none">No batch is overdue.</p>`} />
    <//>
    <${Section} title="Open circuits">
      <${Table} label="Open circuits" columns=${circuits} rows=${overview?.circuits ?? null} skeletons=${1} id=${(circuit) => circuit.graderId} href=${(circuit) => link(["graders", circuit.graderId])}
        empty=${html`<p class="nothing none">Every grader is called.</p>`} />
    <//>
  `;
}

function Budgets({ budgets }) {
  const columns = [
    { name: "period", title: "Period", width: 8, cell: (budget) => words(budget.period) },
    { name: "name", title: "Which", width: 9 },
    { name: "spent", title: "Spent", width: 9, numeric: true, cell: (budget) => nanoDollars(budget.spentNanoUsd) },
    { name: "reserved", title: "Reserved", width: 9, numeric: true, cell: (budget) => nanoDollars(budget.reservedNanoUsd) },
    { name: "limit", title: "Limit", width: 9, numeric: true, cell: (budget) => (budget.limitNanoUsd === null ? "none" : nanoDollars(budget.limitNanoUsd)) },
    { name: "used", title: "Used", width: 7, numeric: true, cell: (budget) => percent(usedOf(budget)) },
  ];
  return html`
    <${Section} title="Budgets for language models">
      <${Table} label="Budgets" columns=${columns} rows=${budgets} skeletons=${3} id=${(budget) => budget.period} />
    <//>
  `;
}

function usedOf({ limitNanoUsd, spentNanoUsd, reservedNanoUsd }) {
  return limitNanoUsd ? (spentNanoUsd + reservedNanoUsd) / limitNanoUsd : null;
}

function limitOf(budget) {
  if (!budget) return undefined;
  return budget.limitNanoUsd === null ? "no limit" : `of ${nanoDollars(budget.limitNanoUsd)}`;
}
