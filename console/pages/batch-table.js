// Batches as rows.

import { Badge } from "../components/badge.js";
import { Id } from "../components/id.js";
import { Shares } from "../components/shares.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { count } from "../format.js";
import { html } from "../preact.js";
import { link } from "../router.js";

/** A page of batches, each with its counts; `query` is that of the view which a row leads to. */
export function BatchTable({ label, data, problem, again, empty, me, query }) {
  const columns = [
    { name: "id", title: "Batch", width: 18, cell: (batch) => html`<code>${batch.id}</code>` },
    { name: "state", title: "State", width: 6, cell: (batch) => html`<${Badge}>${batch.state}<//>` },
    { name: "counts", title: "Verdicts", width: 12, cell: (batch) => html`<${Shares} label="Verdicts" counts=${batch.counts} small />` },
    { name: "expected", title: "All", width: 5, numeric: true, cell: (batch) => count(batch.counts.expected) },
    { name: "failed", title: "Failed", width: 5.5, numeric: true, cell: (batch) => count(batch.counts.failed) },
    { name: "pending", title: "Pending", width: 6, numeric: true, cell: (batch) => count(batch.counts.pending) },
    { name: "createdAt", title: "Submitted", width: 8, cell: (batch) => html`<${Time} at=${batch.createdAt} relative />` },
    { name: "priority", title: "Priority", width: 6 },
    { name: "taskIds", title: "Task", width: 18, cell: (batch) => html`<${Id} id=${batch.taskIds[0]} me=${me} />${batch.tasks > 1 ? ` and ${count(batch.tasks - 1)} more` : ""}` },
  ];
  return html`
    <${Table} label=${label} problem=${problem} again=${again} columns=${columns} rows=${data?.batches ?? null}
      href=${(batch) => link(["batches", batch.id], query)} empty=${empty} />
  `;
}
