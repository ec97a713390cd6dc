// One run: what it is at, what it went through, and its completions.

import { send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Confirm } from "../components/dialog.js";
import { Id } from "../components/id.js";
import { Facts, Page, Section } from "../components/page.js";
import { Shares } from "../components/shares.js";
import { Time } from "../components/time.js";
import { TimeLine } from "../components/timeline.js";
import { Trouble } from "../components/trouble.js";
import { count, words } from "../format.js";
import { html, useState } from "../preact.js";
import { stepOf } from "./waiting.js";

const LIVE_SECONDS = 5;
const ENDS = new Set(["completed", "failed", "canceled"]);
const TONES = { completed: "good", failed: "trouble", canceled: "warning" };
const untilItEnds = ({ run }) => (ENDS.has(run.state) ? undefined : LIVE_SECONDS);

/** The run of an id. */
export function Run({ id, me }) {
  const { data, problem, again } = useApi(`runs/${id}`, {}, { every: untilItEnds });
  const [isAsked, setAsked] = useState(false);
  const run = data?.run;
  const isOver = run && ENDS.has(run.state);
  const close = () => setAsked(false);
  return html`
    <${Page} title="Run" about=${html`<${Copy} text=${id} />`} actions=${run && !isOver ? html`<button type="button" onClick=${() => setAsked(true)}>Cancel</button>` : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!(problem && !run) && html`<${Shares} label="Verdicts" counts=${run?.counts ?? null} />`}
      ${run && html`
        <${Facts} facts=${[
              ["State", html`<${Badge}>${run.state}<//> ${isOver ? "" : stepOf(run.step)}`],
          ["Until", run.sleepUntil && html`<${Time} at=${run.sleepUntil} />`],
          ["Last failed with", words(run.reasonCode ?? "")],
          ["Without a verdict", `${count(run.remaining)} of ${count(run.completions)}`],
          ["Attempts", count(run.attempt)],
          ["Grader", html`<${Id} id=${run.graderId} me=${me} />`],
          ["Version of the grader", run.graderVersion],
          ["Of the panel", run.panelId && html`<code>${run.panelId}</code>`],
          ["Answers that came too late", run.lateAnswers > 0 ? count(run.lateAnswers) : null],
          ["Scored again", run.generation > 0 ? `generation ${run.generation}` : null],
          ["Began", html`<${Time} at=${run.startedAt} />`],
          ["Last round", html`<${Time} at=${run.updatedAt} />`],
        ]} />
        <div class="halves">
          <${Section} title="What it went through">
            ${run.history.length > 0
              ? html`<${TimeLine} label="What it went through" entries=${run.history.map(told)} />`
              : html`<p class="note">Its first round is not over.</p>`}
          <//>
          <${Section} title="Its completions">
            <ul class="ids">${run.completionIds.map((one) => html`<li key=${one}><${Id} id=${one} me=${me} /></li>`)}</ul>
          <//>
        </div>`}
    <//>
    ${isAsked && html`<${CancelRun} run=${run} onClose=${close} onDone=${() => { close(); again(); }} />`}
  `;
}

function told({ at, state, step, remaining }) {
  const title = ENDS.has(state) ? state : stepOf(step);
  return { at, title: title[0].toUpperCase() + title.slice(1), detail: `${count(remaining)} left`, tone: TONES[state] ?? "plain" };
}

function CancelRun({ run, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const cancel = async () => {
    if (await act(() => send("POST", `runs/${run.id}/cancel`))) onDone();
  };
  return html`
    <${Confirm} title="Cancel the run?" yes="Cancel what is pending" busy=${busy} problem=${problem} onYes=${cancel} onClose=${onClose}>
      What is pending in it, ${count(run.counts.pending)} of ${count(run.completions)} completions, ends canceled, and answers that come later are dropped. What is decided stays.
    <//>
  `;
}
