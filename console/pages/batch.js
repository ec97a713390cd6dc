// One batch: how far it is, what it waits for, and its completions.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Id } from "../components/id.js";
import { Facts, Page, Section } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Shares } from "../components/shares.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, duration, score, times, words } from "../format.js";
import { html, useState } from "../preact.js";
import { go, link } from "../router.js";
import { CancelBatch, DeleteTexts, ScoreFailedAgain } from "./batch-dialogs.js";
import { waitedFor } from "./waiting.js";

const LIVE_SECONDS = 5;
const whilePending = (explained) => (explained.counts.pending > 0 ? LIVE_SECONDS : undefined);
const STATES = ["pending", "scored", "abstained", "failed", "canceled"];
const STATE_CHOICES = [["", "any"], ...STATES.map((state) => [state, state])];

/** The batch of an id; state and cursor of its completions lie in the query. */
export function Batch({ id, query, me }) {
  const { data: batch, problem, again } = useApi(`batches/${id}/explanation`, {}, { every: whilePending });
  const [asked, setAsked] = useState(null);
  const counts = batch?.counts ?? null;
  const close = () => setAsked(null);
  const done = () => {
    close();
    again();
  };
  const actions = batch === null ? null : html`
    ${counts.failed > 0 && html`<button type="button" onClick=${() => setAsked("again")}>Score the failed again</button>`}
    ${counts.pending > 0 && html`<button type="button" onClick=${() => setAsked("cancel")}>Cancel</button>`}
    ${me.role === "admin" && html`<button type="button" onClick=${() => setAsked("delete")}>Delete texts</button>`}`;
  return html`
    <${Page} title="Batch" about=${html`<${Copy} text=${id} />`} actions=${actions}>
      <${Trouble} problem=${problem} again=${again} />
      ${!(problem && !batch) && html`
        <${Shares} label="Verdicts" counts=${counts} href=${(state) => link(["batches", id], { state })} />
        ${batch && html`<${About} batch=${batch} />`}
        ${batch && counts.pending > 0 && html`<${Waits} batch=${batch} me=${me} />`}
        ${batch && counts.failed > 0 && html`<${Failures} batch=${batch} />`}
        <div hidden=${!batch}><${Completions} id=${id} query=${query} me=${me} /></div>`}
    <//>
    ${asked === "cancel" && html`<${CancelBatch} batch=${batch} onDone=${done} onClose=${close} />`}
    ${asked === "again" && html`<${ScoreFailedAgain} batch=${batch} onDone=${again} onClose=${close} />`}
    ${asked === "delete" && html`<${DeleteTexts} batch=${batch} onDone=${done} onClose=${close} />`}
  `;
}

function About({ batch }) {
  return html`
    <${Facts} facts=${[
      ["Completions", count(batch.counts.expected)],
      ["Submitted", html`<${Time} at=${batch.createdAt} />`],
      ["Ends at the latest", batch.deadlineAt && html`<${Time} at=${batch.deadlineAt} />`],
      ["Wait for a person", batch.reviews > 0 && count(batch.reviews)],
      ["Queued anew", batch.redrives > 0 && html`${times(batch.redrives)}, last <${Time} at=${batch.queuedAt} relative />`],
      ["Scored again", batch.generation > 0 && times(batch.generation)],
    ].filter(([, value]) => value !== false)} />`;
}

function Waits({ batch, me }) {
  const rows = batch.graders.flatMap((grader) => [
    ...(grader.queued > 0 ? [{ grader, completions: grader.queued }] : []),
    ...grader.runs.map((run) => ({ grader, ...run })),
  ]);
  const columns = [
    { name: "grader", title: "Grader", width: 18, cell: ({ grader }) => html`<${Id} id=${grader.graderId} me=${me} />` },
    { name: "completions", title: "Completions", width: 7.5, numeric: true, cell: (row) => count(row.completions) },
    { name: "waitsFor", title: "Wait for", width: 16, cell: (row) => waitedFor(row.waitsFor) },
    { name: "until", title: "Until", width: 7.5, cell: (row) => html`<${Time} at=${row.nextAttemptAt} relative />` },
    { name: "attempts", title: "Attempts", width: 6.5, numeric: true, cell: (row) => count(row.attempts) },
    { name: "reasonCode", title: "Last failed with", width: 11, cell: (row) => words(row.reasonCode ?? "–") },
    { name: "runId", title: "Run", width: 18, cell: (row) => html`<${Id} id=${row.runId} me=${me} />` },
  ];
  return html`
    <${Section} title="What it waits for">
      <${Table} label="What it waits for" columns=${columns} rows=${rows} id=${(row) => `${row.grader.graderId} ${row.grader.graderVersion} ${row.runId ?? ""}`}
        empty=${html`<p class="note">Every grader has answered: ${batch.reviews > 0 ? "it waits for a person" : "verdicts are being made of their answers"}.</p>`} />
    <//>
  `;
}

function Failures({ batch }) {
  const failures = Object.entries(batch.failures).sort(([, one], [, other]) => other - one);
  return html`
    <${Section} title="Why there is no score">
      <ul class="reasons">
        ${failures.map(([reason, number]) => html`<li key=${reason}><span>${words(reason)}</span> <b>${count(number)}</b></li>`)}
      </ul>
    <//>
  `;
}

function Completions({ id, query, me }) {
  const asked = { state: query.state, nextToken: query.token, limit: 50 };
  const { data, problem, again, loading } = useApi(`batches/${id}/completions`, asked, { every: someWait });
  const columns = [
    { name: "completionId", title: "Completion", width: 18, cell: (verdict) => html`<code>${verdict.completionId}</code>` },
    { name: "state", title: "State", width: 13, cell: (verdict) => html`<${Badge}>${verdict.state}<//> ${words(verdict.reasonCode ?? "")}` },
    { name: "score", title: "Score", width: 5.5, numeric: true, cell: (verdict) => score(verdict.score?.value) },
    { name: "decidedAt", title: "Decided", width: 8, cell: (verdict) => html`<${Time} at=${verdict.decidedAt} relative />` },
    { name: "latencyMs", title: "Took", width: 6, numeric: true, cell: (verdict) => duration(verdict.latencyMs) },
    { name: "attempts", title: "Attempts", width: 6.5, numeric: true, cell: (verdict) => count(verdict.attempts) },
    { name: "nextAttemptAt", title: "Next attempt", width: 8, cell: (verdict) => html`<${Time} at=${verdict.nextAttemptAt} relative />` },
    { name: "graderId", title: "Grader", width: 18, cell: (verdict) => html`<${Id} id=${verdict.graderId} me=${me} />` },
  ];
  const choose = (state) => go(["batches", id], { state });
  return html`
    <${Section} title="Completions">
      <div class="filters"><${Field} label="State" name="state" value=${query.state ?? ""} onInput=${choose} options=${STATE_CHOICES} problem=${problem} data-search /></div>
      <${Table} label="Completions" problem=${problem} again=${again} columns=${columns} rows=${data?.completions ?? null}
        id=${(verdict) => verdict.completionId} href=${(verdict) => link(["completions", verdict.completionId])}
        empty=${!loading && html`<${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : `None is ${query.state ?? "there"}`}>${data?.nextToken && "There is more on the next page."}<//>`} />
      <${Pager} path=${["batches", id]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

// What is shown may change as long as some of it is pending.
const someWait = ({ completions }) => (completions.some(({ state }) => state === "pending") ? LIVE_SECONDS : undefined);
