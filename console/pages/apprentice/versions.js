// Versions of a task's small model under its present definition.

import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { count, percent, score } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { STAGES } from "./frame.js";

export function Versions({ status }) {
  const columns = [
    { name: "number", title: "Version", width: 5.5, cell: ({ number }) => count(number) },
    { name: "stage", title: "Stage", width: 6.5, cell: ({ stage }) => html`<${Badge} tone=${STAGES[stage]}>${stage}<//>` },
    { name: "pairs", title: "Pairs", width: 5, numeric: true, cell: ({ pairs }) => count(pairs) },
    { name: "mean", title: "Agrees", width: 6, numeric: true, cell: ({ agreement }) => percent(agreement.mean) },
    { name: "bound", title: "At least", width: 6.5, numeric: true, cell: ({ agreement }) => percent(agreement.bound) },
    { name: "evidence", title: "Evidence", width: 8.5, numeric: true, cell: ({ agreement }) => `${count(agreement.evidence)} / ${count(agreement.evidenceNeeded)}` },
    { name: "graduated", title: "Graduated", width: 8, cell: ({ graduatedAt }) => (graduatedAt === null ? "no" : `at pair ${count(graduatedAt)}`) },
    { name: "alarm", title: "Alarm", width: 9, numeric: true, cell: ({ alarmLevel, alarmAt }) => `${score(alarmLevel)} / ${count(alarmAt)}` },
    { name: "alarms", title: "Alarms", width: 5.5, numeric: true, cell: ({ alarms }) => count(alarms) },
    { name: "rate", title: "Checked", width: 6, numeric: true, cell: ({ sampling }) => percent(sampling.rate) },
  ];
  return html`
    <${Section} title="Versions">
      <${Table} label="Versions" columns=${columns} rows=${status.versions} id=${({ number }) => number} href=${({ number }) => link(["apprentice", status.name, "pairs"], { version: number })}
        empty=${html`<${Empty} title="No versions"><span>There is no small model under the present definition yet; the task has ${count(status.examples)} of the ${count(status.examplesNeeded)} examples that come before one.</span><//>`} />
    <//>
  `;
}
