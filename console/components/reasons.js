// What failed, by why.

import { count, percent, words } from "../format.js";
import { html } from "../preact.js";
import { LineChart } from "./line-chart.js";
import { Table } from "./table.js";

const TONES = ["trouble", "warning", "accent", "plain"];

/** Reasons with their counts, most of them first: `failures` counts by reason code, null while it loads. */
export function Reasons({ failures, decided }) {
  const rows = failures && ranked(failures).map(([reason, failed]) => ({ id: reason, failed }));
  const columns = [
    { name: "reason", title: "Reason", width: 11, cell: ({ id }) => html`<code>${id}</code>` },
    { name: "failed", title: "Failed", width: 5, numeric: true, cell: ({ failed }) => count(failed) },
    { name: "share", title: "Of verdicts", width: 6, numeric: true, cell: ({ failed }) => percent(failed / decided) },
  ];
  return html`<${Table} label="Failures by reason" columns=${columns} rows=${rows} skeletons=${1} empty=${html`<p class="nothing none">Nothing failed.</p>`} />`;
}

/** The same over time: lines of the commonest reasons, the others together. */
export function ReasonsOverTime({ buckets, failures }) {
  if (!buckets) return html`<${LineChart} label="Failures by reason" starts=${null} series=${[{ name: "failed", tone: TONES[0] }]} />`;
  const names = ranked(failures).map(([reason]) => reason);
  const shown = names.length > TONES.length ? names.slice(0, TONES.length - 1) : names;
  const others = names.slice(shown.length);
  const line = (reasons) => buckets.map((bucket) => reasons.reduce((sum, reason) => sum + (bucket.failures[reason] ?? 0), 0));
  const series = shown.map((reason, index) => ({ name: words(reason), values: line([reason]), tone: TONES[index] }));
  if (others.length > 0) series.push({ name: "other reasons", values: line(others), tone: TONES.at(-1) });
  if (series.length === 0) series.push({ name: "failed", values: line([]), tone: TONES[0] });
  return html`<${LineChart} soFar label="Failures by reason" starts=${buckets.map(({ start }) => start)} series=${series} show=${count} />`;
}

function ranked(failures) {
  return Object.entries(failures).sort(([reason, one], [other, two]) => two - one || reason.localeCompare(other));
}
