// One request to a language model, whole: what it was asked, what was answered, and what that cost.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { LedgerPage } from "./frame.js";
import { Ask, ReadAgain } from "./request-dialogs.js";
import { Answer, Question } from "./request-texts.js";
import { requestHref, Standing } from "./requests.js";

const isOpen = ({ status }) => status === "queued" || status === "submitted";
const whileOpen = ({ request }) => (isOpen(request) ? 5 : undefined);

export function Request({ id, mayChange }) {
  const { data, problem, again } = useApi(`llm-requests/${id}`, {}, { every: whileOpen });
  const parses = useApi(`llm-requests/${id}/parses`);
  const [asked, setAsked] = useState(null);
  const request = data?.request;
  const isThere = request && (parses.data !== null || parses.problem !== null);
  const done = () => {
    setAsked(null);
    again();
    parses.again();
  };
  const ask = (what) => () => setAsked(what);
  const actions = isThere && html`
    ${isOpen(request) && html`<button type="button" disabled=${Boolean(request.cancelRequestedAt)} onClick=${ask("cancel")}>Cancel</button>`}
    ${!isOpen(request) && request.purpose !== "conversation" && html`<button type="button" onClick=${ask("retry")}>Ask again</button>`}
    ${request.verdict && request.rawOutput && html`<button type="button" onClick=${ask("parse")}>Read again</button>`}
    ${mayChange && (request.input || request.messages || request.chatRequest) && !isOpen(request) && html`<button type="button" onClick=${ask("delete")}>Delete the texts</button>`}`;
  return html`
    <${LedgerPage} open="Requests" title="Request" about=${html`<${Copy} text=${id} />`} actions=${actions || null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        <${About} request=${request} />
        <${Question} request=${request} />
        <${Answer} request=${request} parses=${parses} />
        <${Cost} request=${request} />
        <${Attempts} request=${request} />`}
    <//>
    ${asked === "parse" && html`<${ReadAgain} id=${id} onDone=${done} onClose=${() => setAsked(null)} />`}
    ${asked && asked !== "parse" && html`<${Ask} what=${asked} id=${id} onDone=${done} onClose=${() => setAsked(null)} />`}
  `;
}

function About({ request }) {
  const to = (path, query, text) => html`<a href=${link(path, query)}><code>${text}</code></a>`;
  const other = (name) => request[name] && html`<a href=${requestHref({ id: request[name] })}><code>${request[name]}</code></a>`;
  const { trace, labels } = request;
  return html`
    <${Facts} facts=${[
      ["Status", html`<${Standing} request=${request} />`],
      ["Waits because", request.waitingBecause && words(request.waitingBecause)],
      ["Error", request.error?.message],
      ["Purpose", request.purpose],
      ["Model", request.servedModel && request.servedModel !== request.model ? `${request.model}, served by ${request.servedModel}` : request.model],
      ["Provider", request.provider],
      ["Connection", to(["ledger", "connections", request.connectionId], {}, request.connectionId)],
      ["Sent as", request.mode === "job" ? "part of a batch job" : "a call of its own"],
      ["Batch", request.batchId && to(["ledger", "batches", request.batchId], {}, request.batchId)],
      ["Import", request.importId && to(["ledger", "imports", request.importId], {}, request.importId)],
      ["Completion", request.completionId && to(["completions", request.completionId], {}, request.completionId)],
      ["Deck", request.deckId && html`<code>${request.deckId}</code>`],
      ["Own id", request.customId && html`<code>${request.customId}</code>`],
      ["Asked again of", other("retryOf")],
      ["Asked again, for its verdict, of", other("reaskOf")],
      ["Asked again as", other("reaskedAs")],
      ["Not asked again because", request.reaskSkipped && words(request.reaskSkipped)],
      ...Object.entries(trace ?? {}).filter(([, id]) => id).map(([name, id]) => [words(name.replace("Id", "")).replace(/^./, (it) => it.toUpperCase()), to(["ledger", "requests"], { [name]: id }, id)]),
      ["Labels", Object.entries(labels ?? {}).map(([name, value]) => `${name}: ${value}`).join(", ")],
      ["Priority", request.priority === "normal" ? null : request.priority],
      ["To be done by", request.completeBy && html`<${Time} at=${request.completeBy} />`],
      ["Cancel asked for", request.cancelRequestedAt && html`<${Time} at=${request.cancelRequestedAt} />`],
      ["Made", html`<${Time} at=${request.createdAt} />`],
      ["Changed", html`<${Time} at=${request.updatedAt} />`],
      ["Texts go", request.expiresAt && html`<${Time} at=${request.expiresAt} />`],
    ]} />
  `;
}

function Cost({ request }) {
  const { usage, price } = request;
  const per = (usd) => usd && `$${usd} a million`;
  return html`
    <${Section} title="Cost">
      <${Facts} facts=${[
        ["Cost", nanoDollars(request.costNanoUsd)],
        ["At most", nanoDollars(request.boundNanoUsd)],
        ["Input tokens", usage && count(usage.inputTokens)],
        ["of them cached", usage && count(usage.cachedInputTokens)],
        ["of them written to the cache", usage?.cacheWriteTokens ? count(usage.cacheWriteTokens) : null],
        ["Output tokens", usage && count(usage.outputTokens)],
        ["of them reasoning", usage?.reasoningTokens ? count(usage.reasoningTokens) : null],
        ["Counted by", usage && (usage.assumed ? "us, as the provider told nothing" : "the provider")],
        ["Price of input", per(price.inputUsd)],
        ["Price of cached input", per(price.cachedInputUsd)],
        ["Price of output", per(price.outputUsd)],
        ["Which is", `${price.processing === "batch" ? "the batch" : "the standard"} price, ${price.source === "own" ? "the connection’s own" : "published"}`],
      ]} />
    <//>
  `;
}

function Attempts({ request }) {
  const columns = [
    { name: "number", title: "Attempt", width: 6, cell: (attempt) => count(attempt.number) },
    { name: "at", title: "Over", width: 11.5, cell: (attempt) => html`<${Time} at=${attempt.at} />` },
    { name: "outcome", title: "Outcome", width: 20, cell: (attempt) =>
      attempt.error ? html`<${Badge} tone="trouble">${attempt.error.code}<//> <span class="why">${attempt.error.message}</span>` : html`<${Badge} tone="good">answered<//>` },
    { name: "cost", title: "Cost", width: 7.5, numeric: true, cell: (attempt) => nanoDollars(attempt.costNanoUsd) },
    { name: "batch", title: "Batch", width: 16.5, cell: (attempt) => attempt.batchId ? html`<a href=${link(["ledger", "batches", attempt.batchId])}><code>${attempt.batchId}</code></a>` : "–" },
  ];
  return html`
    <${Section} title="Attempts">
      <${Table} label="Attempts that are over" columns=${columns} rows=${request.attempts} id=${(attempt) => attempt.number}
        empty=${html`<p class="hint">None is over yet.</p>`} />
    <//>
  `;
}
