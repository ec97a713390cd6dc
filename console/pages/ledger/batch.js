// One batch: how far it is, what it cost, which requests are in it, and what to say where nobody knows.

import { send, useAct, useApi } from "../../api.js";
import { Copy } from "../../components/copy.js";
import { Confirm } from "../../components/dialog.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { BatchStanding } from "./batches.js";
import { LedgerPage } from "./frame.js";
import { COLUMNS, requestHref } from "./requests.js";
import { Resolve } from "./resolve.js";

const EVERY = 10;
const isOpen = ({ status }) => status === "queued" || status === "submitted";
const whileOpen = ({ batch }) => (isOpen(batch) ? EVERY : undefined);
const whileAnyIsOpen = ({ requests }) => (requests.some(isOpen) ? EVERY : undefined);
const LIMITS = { enqueuedTokens: "tokens in the provider’s queue", enqueuedRows: "requests in the provider’s queue", openJobs: "open jobs", creationsPerHour: "jobs created in an hour" };

export function Batch({ id, query, mayChange }) {
  const { data, problem, again } = useApi(`llm-batches/${id}`, {}, { every: whileOpen });
  const rows = useApi(`llm-batches/${id}/rows`, { limit: 50, nextToken: query.token }, { every: whileAnyIsOpen });
  const [isAsked, setAsked] = useState(false);
  const batch = data?.batch;
  const done = () => {
    setAsked(false);
    again();
    rows.again();
  };
  const cancel = batch && isOpen(batch) && html`<button type="button" disabled=${Boolean(batch.cancelRequestedAt)} onClick=${() => setAsked(true)}>Cancel</button>`;
  return html`
    <${LedgerPage} open="Batches" title="Batch" about=${html`<${Copy} text=${id} />`} actions=${cancel || null}>
      <${Trouble} problem=${problem} again=${again} />
      ${batch?.job?.stage === "unknown" && isOpen(batch) && html`<${Resolve} batch=${batch} mayChange=${mayChange} onDone=${done} />`}
      ${!batch && !problem && html`<${FactsToCome} />`}
      ${batch && html`<${Counts} batch=${batch} /><${About} batch=${batch} /><${Bill} batch=${batch} />`}
      ${batch && html`
        <${Section} title="Requests">
          <${Table} label="Requests of the batch" problem=${rows.problem} again=${rows.again} columns=${COLUMNS} rows=${rows.data?.requests ?? null} href=${requestHref}
            empty=${html`<p class="hint">No request is in it any more.</p>`} />
          <${Pager} path=${["ledger", "batches", id]} query=${query} nextToken=${rows.data?.nextToken} />
        <//>`}
    <//>
    ${isAsked && html`<${Cancel} id=${id} onDone=${done} onClose=${() => setAsked(false)} />`}
  `;
}

function Counts({ batch }) {
  const { counts } = batch;
  return html`
    <${Stats}>
      <${Stat} label="Requests" value=${count(counts.rows)} />
      <${Stat} label="Answered" value=${count(counts.completed)} tone=${counts.completed ? "good" : undefined} />
      <${Stat} label="Failed" value=${count(counts.error)} tone=${counts.error ? "trouble" : undefined} />
      <${Stat} label="Canceled" value=${count(counts.canceled)} />
      <${Stat} label="Put back" value=${count(counts.released)} hint="for a later batch" />
      <${Stat} label="Cost" value=${nanoDollars(batch.costNanoUsd)} hint=${batch.reservedNanoUsd ? `${nanoDollars(batch.reservedNanoUsd)} reserved` : ""} />
    <//>
  `;
}

function About({ batch }) {
  const { job, progress } = batch;
  return html`
    <${Facts} facts=${[
      ["Status", html`<${BatchStanding} batch=${batch} />`],
      ["Waits for room in", batch.waitingFor && LIMITS[batch.waitingFor]],
      ["Error", batch.error && `${words(batch.error.code)}: ${batch.error.message}`],
      ["Model", batch.model],
      ["Provider", batch.provider],
      ["Connection", html`<a href=${link(["ledger", "connections", batch.connectionId])}><code>${batch.connectionId}</code></a>`],
      ["Sent as", batch.mode === "job" ? "a job of the provider" : "calls"],
      ["Job", job?.id && html`<code>${job.id}</code>`],
      ["Job’s stage", job && words(job.stage)],
      ["Results stored", job && `${count(job.stored ?? 0)} of ${count(job.rows)}`],
      ["At the provider", progress && html`${count(progress.completed)} answered, ${count(progress.failed)} failed of ${count(progress.rows)}, <${Time} at=${progress.at} relative />`],
      ["Estimated input tokens", batch.inputTokens === null || batch.inputTokens === undefined ? null : count(batch.inputTokens)],
      ["Calls that may be paid without an answer", batch.unclear ? count(batch.unclear) : null],
      ["Requests dearer than reserved", batch.aboveBound ? count(batch.aboveBound) : null],
      ["Cancel asked for", batch.cancelRequestedAt && html`<${Time} at=${batch.cancelRequestedAt} />`],
      ["It goes on because", batch.cancelDetail],
      ["Made", html`<${Time} at=${batch.createdAt} />`],
      ["Sent", batch.submittedAt && html`<${Time} at=${batch.submittedAt} />`],
      ["Over", batch.completedAt && html`<${Time} at=${batch.completedAt} />`],
    ]} />
  `;
}

// What the provider reports of its job, beside what its requests were charged.
function Bill({ batch }) {
  const { reported, difference } = batch;
  if (!reported && !difference) return null;
  const known = (value) => value !== null && value !== undefined;
  const rows = [
    ["Input tokens", reported?.usage?.inputTokens, difference?.inputTokens, count],
    ["of them cached", reported?.usage?.cachedInputTokens, difference?.cachedInputTokens, count],
    ["Output tokens", reported?.usage?.outputTokens, difference?.outputTokens, count],
    ["Cost", reported?.costNanoUsd, difference?.costNanoUsd, nanoDollars],
  ].filter(([, told, apart]) => known(told) || known(apart)).map(([id, told, apart, show]) => ({ id, told: show(told), apart: show(apart) }));
  const columns = [
    { name: "id", title: "", width: 10 },
    { name: "told", title: "Provider", width: 8, numeric: true },
    { name: "apart", title: "More than charged", width: 8, numeric: true },
  ];
  return html`
    <${Section} title="Provider’s bill">
      ${difference && !difference.withinTolerance && html`<p class="notice">It differs from what the requests were charged by more than is usual.</p>`}
      <div class="narrow"><${Table} label="Bill and charges" columns=${columns} rows=${rows} empty=${html`<p class="hint">The provider reports no sums.</p>`} /></div>
    <//>
  `;
}

function Cancel({ id, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const yes = async () => {
    if (await act(() => send("POST", `llm-batches/${id}/cancel`))) onDone();
  };
  return html`
    <${Confirm} title="Cancel the batch?" yes="Cancel it" busy=${busy} problem=${problem} onYes=${yes} onClose=${onClose}>
      What was not asked yet is not asked, and costs nothing. What was asked is paid, and its answers are kept.
    <//>
  `;
}
