// The whole way of a completion, as far as it is stored.

import { Id } from "../components/id.js";
import { Section } from "../components/page.js";
import { Time } from "../components/time.js";
import { TimeLine } from "../components/timeline.js";
import { Trouble } from "../components/trouble.js";
import { count, score, words } from "../format.js";
import { html } from "../preact.js";
import { waitedFor } from "./waiting.js";

const TONES = { scored: "good", failed: "trouble", abstained: "warning", canceled: "warning" };
const TITLES = {
  submitted: () => "Submitted",
  scored_again: () => "Asked to be scored again",
  redriven: () => "Queued anew",
  run_began: () => "A run took it",
  run_waited: (entry) => `The run waited for ${waitedFor(entry.waitsFor)}`,
  run_ended: () => "The run ended",
  asked: () => "The grader said that it answers later",
  answered: () => "The grader answered",
  opinion: (entry) => `Opinion: ${judged(entry)}`,
  review_requested: () => "A person was asked",
  review_answered: (entry) => (entry.value === null || entry.value === undefined ? "The person answered" : `The person answered: ${score(entry.value)}`),
  verdict: (entry) => `Verdict: ${judged(entry)}`,
  text_gone: () => "Its text went",
};
const FORGOTTEN = { runs: "Runs", calls: "Questions that graders answer later" };

/** What happened to a completion, oldest first, and what comes next: what `useApi` returned of its timeline. */
export function Way({ of: { data, problem, again }, me }) {
  const entries = (data?.timeline ?? []).map((entry) => ({
    at: entry.at,
    title: (TITLES[entry.kind] ?? words)(entry.kind in TITLES ? entry : entry.kind),
    detail: details(entry, me),
    tone: ["verdict", "opinion"].includes(entry.kind) ? TONES[entry.state] : entry.kind === "run_waited" ? "warning" : "plain",
  }));
  if (data?.state === "pending") {
    const detail = data.until && html`until <${Time} at=${data.until} /> at the latest`;
    entries.push({ at: null, title: `Waits for ${waitedFor(data.waitsFor)}`, detail });
  }
  return html`
    <${Section} title="Its way">
      <${Trouble} problem=${problem} again=${again} />
      ${data && html`<${TimeLine} label="Its way" entries=${entries} />`}
      ${(data?.forgotten ?? []).map(({ what, before }) => html`
        <p key=${what} class="note">${FORGOTTEN[what] ?? what} before <${Time} at=${before} /> are not stored any more.</p>`)}
    <//>
  `;
}

function judged({ state, value, reasonCode }) {
  if (state === "scored") return score(value);
  return reasonCode ? `${state}, ${words(reasonCode)}` : state;
}

// What else is known of an entry: ids lead to what they name.
function details(entry, me) {
  const told = [
    entry.kind !== "verdict" && entry.kind !== "opinion" && entry.reasonCode && words(entry.reasonCode),
    entry.confidence !== null && entry.confidence !== undefined && `confidence ${score(entry.confidence)}`,
    entry.until && html`until <${Time} at=${entry.until} />`,
    entry.attempts > 0 && `${count(entry.attempts)} ${entry.attempts === 1 ? "attempt" : "attempts"}`,
    entry.decidedBy && `decided by ${entry.decidedBy}`,
    entry.graderId && html`<${Id} id=${entry.graderId} me=${me} />`,
    entry.runId && html`<${Id} id=${entry.runId} me=${me} />`,
    entry.reviewId && html`<${Id} id=${entry.reviewId} me=${me} />`,
    entry.sourceRequestId && html`<${Id} id=${entry.sourceRequestId} me=${me} />`,
    entry.eventId && html`event <code>${entry.eventId}</code>`,
  ].filter(Boolean);
  return told.length > 0 && told.map((one, index) => html`<span key=${index} class="told">${one}</span>`);
}
