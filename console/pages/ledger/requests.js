// Requests to language models, the youngest first, by what is known of them.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { LedgerPage } from "./frame.js";

const any = (values) => [["", "any"], ...values.map((value) => [value, words(value)])];
const STATUSES = any(["queued", "submitted", "completed", "error", "canceled"]);
const ERRORS = any([
  "rejected", "content_filtered", "canceled", "unsupported_in_batch", "rate_limited", "provider_error", "outcome_unclear", "result_malformed",
  "result_missing", "batch_expired", "account", "address_refused", "expired", "platform_error",
]);
// What an id is of, by its first letters; what begins with none of them is the caller's own.
const BY_PREFIX = { lbt_: "batchId", lim_: "importId", llc_: "connectionId", cmp_: "completionId" };
const BY_ID = [...Object.values(BY_PREFIX), "deckId", "experimentId", "rubricId", "scoreId", "evidenceId", "sampleId", "customId"];
const OTHERS = ["status", "model", "purpose", "errorCode"];

/** Columns of requests without their texts; the first is a link. */
export const COLUMNS = [
  { name: "id", title: "Request", width: 16.5, cell: (request) => html`<code>${request.id}</code>` },
  { name: "status", title: "Status", width: 13.5, cell: (request) => html`<${Standing} request=${request} />` },
  { name: "purpose", title: "Purpose", width: 8 },
  { name: "model", title: "Model", width: 10 },
  { name: "cost", title: "Cost", width: 7.5, numeric: true, cell: (request) => nanoDollars(request.costNanoUsd) },
  { name: "createdAt", title: "Made", width: 7.5, cell: (request) => html`<${Time} at=${request.createdAt} relative />` },
];

/** Where a request's own page is. */
export const requestHref = ({ id }) => link(["ledger", "requests", id]);

export function Requests({ query }) {
  const filters = Object.fromEntries([...OTHERS, ...BY_ID].filter((name) => query[name]).map((name) => [name, query[name]]));
  const { data, problem, again } = useApi("llm-requests", { ...filters, nextToken: query.token, limit: 50 }, { every: query.token ? undefined : 15 });
  const isFiltered = Object.keys(filters).length > 0;
  return html`
    <${LedgerPage} open="Requests" about="Each call of a language model, the youngest first, with what it was asked, answered and cost.">
      <${Filters} key=${JSON.stringify(filters)} query=${query} problem=${problem} />
      <${Table} label="Requests" problem=${problem} again=${again} columns=${COLUMNS} rows=${data?.requests ?? null} href=${requestHref} skeletons=${10}
        empty=${isFiltered
          ? html`<${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : "Nothing that fits"} command="autotune llm list">
              ${data?.nextToken ? "There is more on the next page." : "Look with fewer filters."}<//>`
          : html`<${Empty} title="No requests" command="autotune llm enqueue requests.jsonl --connection CONNECTION_ID --model MODEL --max-tokens 500 --purpose scoring">
              Graders of the kind rubric make them, and so do you.<//>`} />
      <${Pager} path=${["ledger", "requests"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Filters({ query, problem }) {
  const known = BY_ID.find((name) => query[name]);
  const [entered, setEntered] = useState({ ...Object.fromEntries(OTHERS.map((name) => [name, query[name] ?? ""])), id: query[known] ?? "" });
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const look = (event) => {
    event.preventDefault();
    const { id: typed, ...others } = entered;
    const id = typed.trim();
    if (id.startsWith("llm_")) return go(["ledger", "requests", id]);
    const name = id === query[known] ? known : (BY_PREFIX[id.slice(0, 4)] ?? "customId");
    return go(["ledger", "requests"], { ...others, [name]: id });
  };
  const field = (name, label, more) => html`<${Field} label=${label} name=${name} value=${entered[name]} onInput=${enter(name)} problem=${problem} ...${more} />`;
  return html`
    <form class="filters tight" onSubmit=${look} role="search">
      ${field("id", "Id", { placeholder: "llm_…, cmp_…", "data-search": true })}
      ${field("status", "Status", { options: STATUSES })}
      ${field("model", "Model")}
      ${field("purpose", "Purpose")}
      ${field("errorCode", "Error", { options: ERRORS })}
      <button type="submit">Look</button>
    </form>
  `;
}

/** How a request stands, and why where it failed. */
export function Standing({ request }) {
  const why = request.error?.code ?? request.parseError?.code;
  const isEnding = request.cancelRequestedAt && (request.status === "queued" || request.status === "submitted");
  return html`<${Badge}>${request.status}<//>${why ? html` <span class="why">${words(why)}</span>` : isEnding ? html` <span class="why">canceling</span>` : ""}`;
}
