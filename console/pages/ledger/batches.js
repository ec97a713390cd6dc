// Batches: requests of one connection and model that were sent together.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { LedgerPage } from "./frame.js";

const STATUSES = [["", "any"], ...["queued", "submitted", "completed", "error", "canceled"].map((value) => [value, value])];
const BILLS = [["", "any"], ["true", "differs from ours"]];
const NAMES = ["status", "model", "connectionId", "differs"];

const COLUMNS = [
  { name: "id", title: "Batch", width: 16.5, cell: (batch) => html`<code>${batch.id}</code>` },
  { name: "status", title: "Status", width: 10.5, cell: (batch) => html`<${BatchStanding} batch=${batch} />` },
  { name: "model", title: "Model", width: 10 },
  { name: "rows", title: "Answered", width: 7, numeric: true, cell: ({ counts }) => `${count(counts.completed)} of ${count(counts.rows)}` },
  { name: "failed", title: "Failed", width: 5, numeric: true, cell: ({ counts }) => count(counts.error) },
  { name: "cost", title: "Cost", width: 7.5, numeric: true, cell: (batch) => nanoDollars(batch.costNanoUsd) },
  { name: "createdAt", title: "Made", width: 6.5, cell: (batch) => html`<${Time} at=${batch.createdAt} relative />` },
];

const href = ({ id }) => link(["ledger", "batches", id]);

export function Batches({ query }) {
  const filters = Object.fromEntries(NAMES.map((name) => [name, query[name]]));
  const waiting = useApi("llm-batches", { needsOperator: true, limit: 50 }, { every: 30 });
  const { data, problem, again } = useApi("llm-batches", { ...filters, nextToken: query.token, limit: 50 }, { every: query.token ? undefined : 15 });
  // The list stands below what waits, and comes once that is known.
  const isKnown = waiting.data !== null || waiting.problem !== null;
  const isFiltered = NAMES.some((name) => query[name]);
  return html`
    <${LedgerPage} open="Batches" about="Requests of one connection and model that were sent together, as one job of the provider or as calls.">
      <${Trouble} problem=${waiting.problem} again=${waiting.again} />
      ${waiting.data?.batches.length > 0 && html`
        <${Section} title="Waiting for an operator">
          <p class="notice">What became of these at the provider is unclear, and only a person can find out. Until then their requests and money are held.</p>
          <${Table} label="Batches that wait for an operator" columns=${COLUMNS} rows=${waiting.data.batches} href=${href} />
        <//>
        <div class="section-head"><h2>All batches</h2></div>`}
      ${!isKnown && html`<${Table} key="to come" label="Batches" columns=${COLUMNS} rows=${null} skeletons=${10} />`}
      ${isKnown && html`<${Filters} key=${JSON.stringify(filters)} query=${query} problem=${problem} />
      <${Table} key="there" label="Batches" problem=${problem} again=${again} columns=${COLUMNS} rows=${data?.batches ?? null} href=${href} skeletons=${10}
        empty=${isFiltered
          ? html`<${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : "Nothing that fits"} command="autotune llm batches">
              ${data?.nextToken ? "There is more on the next page." : "Look with fewer filters."}<//>`
          : html`<${Empty} title="No batches" command="autotune llm batches">Requests that wait together are sent as a batch, which is cheaper.<//>`} />`}
      <${Pager} path=${["ledger", "batches"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Filters({ query, problem }) {
  const [entered, setEntered] = useState(Object.fromEntries(NAMES.map((name) => [name, query[name] ?? ""])));
  const field = (name, label, more) => html`
    <${Field} label=${label} name=${name} value=${entered[name]} problem=${problem} onInput=${(value) => setEntered((old) => ({ ...old, [name]: value }))} ...${more} />`;
  const look = (event) => {
    event.preventDefault();
    go(["ledger", "batches"], entered);
  };
  return html`
    <form class="filters" onSubmit=${look} role="search">
      ${field("status", "Status", { options: STATUSES })}
      ${field("model", "Model", { "data-search": true })}
      ${field("connectionId", "Connection", { placeholder: "llc_…" })}
      ${field("differs", "Provider’s bill", { options: BILLS })}
      <button type="submit">Look</button>
    </form>
  `;
}

/** How a batch stands: its status, and what is being done or waited for. */
export function BatchStanding({ batch }) {
  const { status, job, waitingFor, cancelRequestedAt } = batch;
  const isOpen = status === "queued" || status === "submitted";
  if (isOpen && job?.stage === "unknown") return html`<${Badge} tone="trouble">unknown<//>`;
  const why = isOpen ? (waitingFor ? "waits for room" : cancelRequestedAt ? "canceling" : job && words(job.stage)) : null;
  return html`<${Badge}>${status}<//>${why && html` <span class="why">${why}</span>`}`;
}
