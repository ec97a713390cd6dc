// One completion: its text, its verdict, who was asked, and its whole way.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Id } from "../components/id.js";
import { Facts, Page, Section, Stat, Stats } from "../components/page.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, duration, percent, score, times, words } from "../format.js";
import { html, useState } from "../preact.js";
import { link } from "../router.js";
import { CancelCompletion, DeleteText, ScoreAgain } from "./completion-dialogs.js";
import { Way } from "./completion-way.js";
import { waitedFor } from "./waiting.js";

const LIVE_SECONDS = 5;
const TONES = { scored: "good", failed: "trouble" };
const whilePending = (told) => ((told.verdict ?? told).state === "pending" ? LIVE_SECONDS : undefined);

/** The completion of an id; a generation before the latest lies in the query. */
export function Completion({ id, query, me }) {
  const isTrainer = me.role !== "grader_owner";
  const { data: explained, problem, again } = useApi(`completions/${id}/explanation`, {}, { every: whilePending });
  const way = useApi(`completions/${id}/timeline`, {}, { every: whilePending });
  const text = useApi(isTrainer ? `completions/${id}` : null);
  const before = useApi(query.generation === undefined ? null : `completions/${id}/score`, { generation: query.generation });
  const [asked, setAsked] = useState(null);
  const latest = explained?.verdict;
  const isPending = latest?.state === "pending";
  const verdict = query.generation === undefined ? latest : before.data?.verdict;
  const close = () => setAsked(null);
  const done = () => {
    close();
    again();
    way.again();
    if (isTrainer) text.again();
  };
  const hasText = text.data !== null && !text.problem;
  // Until all of it is there nothing is shown below the figures, so that nothing moves.
  const isThere = explained && [way, ...(isTrainer ? [text] : [])].every((one) => one.data || one.problem);
  const actions = !isTrainer ? undefined : !isThere ? null : html`
    ${!isPending && hasText && html`<button type="button" onClick=${() => setAsked("again")}>Score again</button>`}
    ${isPending && html`<button type="button" onClick=${() => setAsked("cancel")}>Cancel</button>`}
    ${me.role === "admin" && hasText && html`<button type="button" onClick=${() => setAsked("delete")}>Delete text</button>`}`;
  return html`
    <${Page} title="Completion" about=${html`<${Copy} text=${id} />`} actions=${actions}>
      <${Trouble} problem=${problem ?? before.problem} again=${problem ? again : before.again} />
      ${!(problem && !explained) && html`
        <${Figures} verdict=${verdict ?? null} />
        ${!isThere && html`<p class="visually-hidden" role="status" aria-busy="true">Loading the completion</p>`}
        ${isPending && isThere && html`<${WaitsFor} explained=${explained} me=${me} />`}
        ${verdict && isThere && html`<${About} explained=${explained} verdict=${verdict} me=${me} />`}
        ${isTrainer && isThere && html`<${Text} text=${text} />`}
        ${verdict?.score && isThere && html`<${Reasoning} of=${verdict.score} />`}
        ${isThere && verdict === latest && explained.graders.length > 0 && html`<${Asked} explained=${explained} timeline=${way.data?.timeline ?? []} me=${me} />`}
        ${isThere && html`<${Way} of=${way} me=${me} />`}`}
    <//>
    ${asked === "again" && html`<${ScoreAgain} verdict=${latest} onDone=${done} onClose=${close} />`}
    ${asked === "cancel" && html`<${CancelCompletion} id=${id} onDone=${done} onClose=${close} />`}
    ${asked === "delete" && html`<${DeleteText} id=${id} isPending=${isPending} onDone=${done} onClose=${close} />`}
  `;
}

function Figures({ verdict }) {
  const shown = (show) => (verdict === null ? null : show(verdict));
  return html`
    <${Stats}>
      <${Stat} label="State" value=${shown(({ state }) => state)} tone=${TONES[verdict?.state]} hint=${words(verdict?.reasonCode ?? "")} />
      <${Stat} label="Score" value=${shown((it) => score(it.score?.value))} />
      <${Stat} label="Confidence" value=${shown((it) => score(it.score?.confidence))} />
      <${Stat} label="Took" value=${shown((it) => duration(it.latencyMs))} />
    <//>
  `;
}

function WaitsFor({ explained, me }) {
  const waits = explained.graders.filter(({ state }) => state === "pending");
  return html`
    <div class="note waits" role="status">
      <ul>
        ${waits.map((grader) => html`
          <li key=${grader.graderId + grader.graderVersion}>
            Waits for <b>${waitedFor(grader.waitsFor)}</b>${grader.reasonCode && ` after ${words(grader.reasonCode)}`}${grader.nextAttemptAt && html`, until <${Time} at=${grader.nextAttemptAt} />`}
          </li>`)}
        ${explained.review && html`<${WaitsForPerson} review=${explained.review} me=${me} />`}
        ${waits.length === 0 && !explained.review && html`<li>Every grader has answered: its verdict is being made.</li>`}
        <li>Ends failed without a verdict at <${Time} at=${explained.deadlineAt} /></li>
      </ul>
    </div>
  `;
}

function WaitsForPerson({ review, me }) {
  const id = html`<${Id} id=${review.reviewId} me=${me} />`;
  if (review.correctableUntil) return html`<li>A person answered ${id}: the verdict comes at <${Time} at=${review.correctableUntil} />, once the answer can be corrected no more</li>`;
  return html`<li>Waits for <b>${review.assigneeId ?? "a person"}</b> to review it, until <${Time} at=${review.expiresAt} />: ${id}</li>`;
}

function About({ explained, verdict, me }) {
  const generations = Array.from({ length: (explained.verdict.generation ?? 0) + 1 }, (_, generation) => generation);
  return html`
    <${Facts} facts=${[
      ["Task", html`<${Id} id=${verdict.taskId} me=${me} />`],
      ["Model", verdict.modelId],
      ["Batch", html`<${Id} id=${explained.batchId} me=${me} />`],
      ["Grader", html`<${Id} id=${verdict.graderId} me=${me} />`],
      ["Version of the grader", verdict.score?.graderVersion],
      ["Submitted", html`<${Time} at=${verdict.submittedAt} />`],
      ["Decided", verdict.decidedAt && html`<${Time} at=${verdict.decidedAt} />${verdict.decidedBy && ` by ${verdict.decidedBy}`}`],
      ["Last attempt failed with", words(verdict.lastReasonCode ?? "")],
      ["Attempts", verdict.attempts > 0 ? count(verdict.attempts) : null],
      ["Review", verdict.reviewId && html`<${Id} id=${verdict.reviewId} me=${me} />`],
      ["Read from the request", verdict.sourceRequestId && html`<${Id} id=${verdict.sourceRequestId} me=${me} />`],
      ["Queued anew", explained.redrives > 0 ? times(explained.redrives) : null],
      ["Scored again", generations.length > 1 && html`<${Generations} all=${generations} verdict=${verdict} />`],
    ].filter(([, value]) => value !== false)} />`;
}

function Generations({ all, verdict }) {
  const latest = all.at(-1);
  return html`
    <span class="generations">
      ${all.map((generation) => {
        const isShown = generation === (verdict.generation ?? 0);
        const query = generation === latest ? {} : { generation };
        const text = generation === 0 ? "first verdict" : generation === latest ? "latest" : `verdict ${generation + 1}`;
        return html`<a key=${generation} href=${link(["completions", verdict.completionId], query)} aria-current=${isShown ? "true" : undefined}>${text}</a> `;
      })}
    </span>`;
}

function Text({ text }) {
  if (text.problem?.status === 404) return html`<p class="note">Its text was deleted, or has expired: verdicts stay, texts go.</p>`;
  if (text.problem) return html`<${Trouble} problem=${text.problem} again=${text.again} />`;
  const { completion } = text.data;
  const metadata = Object.keys(completion.metadata).length > 0 ? JSON.stringify(completion.metadata, null, 2) : null;
  return html`
    <div class="halves">
      <${Section} title="Prompt"><${Body} label="Prompt" text=${completion.prompt} /><//>
      <${Section} title="Response"><${Body} label="Response" text=${completion.response} /><//>
    </div>
    ${metadata && html`<${Section} title="Metadata"><${Body} label="Metadata" text=${metadata} /><//>`}
  `;
}

function Body({ label, text }) {
  return html`<pre class="body" tabindex="0" aria-label=${label}>${text}</pre>`;
}

function Reasoning({ of }) {
  const dimensions = of.dimensions ?? [];
  if (!of.reasoning && dimensions.length === 0) return null;
  const columns = [
    { name: "name", title: "Dimension", width: 14, cell: (dimension) => words(dimension.name) },
    { name: "value", title: "Score", width: 6, numeric: true, cell: (dimension) => score(dimension.value) },
    { name: "weight", title: "Weight", width: 6, numeric: true, cell: (dimension) => String(dimension.weight) },
  ];
  return html`
    <${Section} title="What the grader says">
      ${of.reasoning && html`<p class="said">${of.reasoning}</p>`}
      ${dimensions.length > 0 && html`<${Table} label="Dimensions" columns=${columns} rows=${dimensions} id=${(dimension) => dimension.name} />`}
    <//>
  `;
}

function Asked({ explained, timeline, me }) {
  const { generation = 0 } = explained.verdict;
  // Only a verdict names opinions; before there is one, the timeline has those that were given.
  const opinions = explained.verdict.opinions ?? timeline.filter((entry) => entry.kind === "opinion" && (entry.generation ?? 0) === generation);
  const opinionOf = (grader) => opinions.find((one) => one.graderId === grader.graderId && one.graderVersion === grader.graderVersion);
  const isPanel = explained.graders.some(({ weight }) => weight !== null && weight !== undefined);
  const valueOf = (grader) => (isPanel ? opinionOf(grader)?.value : explained.verdict.score?.value);
  const confidenceOf = (grader) => (isPanel ? opinionOf(grader)?.confidence : explained.verdict.score?.confidence);
  const weights = explained.graders.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
  const columns = [
    { name: "graderId", title: "Grader", width: 18, cell: (grader) => html`<${Id} id=${grader.graderId} me=${me} />` },
    { name: "state", title: "State", width: 15, cell: (grader) => html`<${Badge}>${grader.state}<//> ${words(grader.reasonCode ?? "")}` },
    { name: "score", title: "Score", width: 5.5, numeric: true, cell: (grader) => score(valueOf(grader)) },
    { name: "confidence", title: "Confidence", width: 7, numeric: true, cell: (grader) => score(confidenceOf(grader)) },
    ...(isPanel ? [{ name: "weight", title: "Weight", width: 5.5, numeric: true, cell: (grader) => percent(weights > 0 ? grader.weight / weights : null) }] : []),
    { name: "attempts", title: "Attempts", width: 6.5, numeric: true, cell: (grader) => count(grader.attempts) },
    { name: "graderVersion", title: "Version", width: 7 },
    { name: "runId", title: "Run", width: 18, cell: (grader) => html`<${Id} id=${grader.runId} me=${me} />` },
    { name: "sourceRequestId", title: "Model’s request", width: 18, cell: (grader) => html`<${Id} id=${grader.sourceRequestId} me=${me} />` },
  ];
  return html`
    <${Section} title=${isPanel ? "Opinions" : "Who was asked"}>
      <${Table} label=${isPanel ? "Opinions" : "Who was asked"} columns=${columns} rows=${explained.graders} id=${(grader) => `${grader.graderId} ${grader.graderVersion}`} />
    <//>
  `;
}
