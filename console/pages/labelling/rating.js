// One sample: read, rated by a key, and only then what the judge said of it.

import { send, useAct } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Conversation, Turn, textOf } from "../../components/conversation.js";
import { Field } from "../../components/field.js";
import { LEVELS, LevelMark } from "../../components/levels.js";
import { Trouble } from "../../components/trouble.js";
import { level, minute, words } from "../../format.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../preact.js";
import { DOES_NOT_APPLY, keyOf, listenForKeys } from "./keys.js";

/** `given` is what `feedback/next` answered; `onNext` asks for another, `onHold` for this one again. */
export function Rating({ of, given, loading, onNext, onSkip, onHold }) {
  const { sample, rubric, task } = given;
  const [chosen, setChosen] = useState(undefined);
  const [explanation, setExplanation] = useState("");
  const [said, setSaid] = useState(null);
  const [isCorrecting, setCorrecting] = useState(false);
  const { act, problem, busy } = useAct();
  const side = useRef(null);
  const isOver = useEnd(given.heldUntil) && said === null;
  const isOpen = said === null || isCorrecting;

  const submit = async () => {
    if (busy || chosen === undefined) return;
    const body = { ...(chosen === null ? { doesNotApply: true } : { score: chosen }), explanation, version: given.version };
    const answer = await act(() => (task === "adjudication"
      ? send("PUT", `${of}/truth/${sample.id}`, body)
      : send("POST", `${of}/feedback`, { ...body, sampleId: sample.id })));
    if (!answer) return;
    document.activeElement?.blur(); // its keys are those of the page again
    setSaid(answer);
    setCorrecting(false);
  };
  const actions = isOpen
    ? { choose: setChosen, explain: () => side.current?.querySelector("textarea")?.focus(), submit, skip: said === null ? onSkip : undefined }
    : { submit: loading ? undefined : onNext, correct: task === "rating" ? () => setCorrecting(true) : undefined };
  const latest = useRef(actions);
  latest.current = actions;
  // Before it is painted: a key that is pressed at the first sight of a sample counts.
  useLayoutEffect(() => listenForKeys(() => latest.current), []);

  return html`
    ${isOver && html`<p class="notice">You held it until ${minute(given.heldUntil)}; somebody else may have got it since. <button type="button" class="quiet" onClick=${onHold}>Take it again</button></p>`}
    <div class="rating">
      <div>
        <p class="criteria">${rubric.criteria}</p>
        <${Conversation} label="Asked" messages=${sample.messages} />
        ${sample.promptWithheld && html`<p class="hint">The system prompt is not shown: responses under two of them are compared.</p>`}
        <${Turn} role="answer" text=${textOf(sample.response)} />
      </div>
      <div class="rating-side" ref=${side}>
        <fieldset class="level-choices">
          <legend>Its level</legend>
          ${LEVELS.toReversed().map((it) => html`
            <button key=${it} type="button" data-level=${it} aria-pressed=${chosen === it} disabled=${!isOpen} onClick=${() => setChosen(it)}>
              <kbd>${keyOf(it)}</kbd><b>${level(it)}</b><span>${rubric.levels[it + 3]}</span>
            </button>`)}
          <button type="button" data-level="none" aria-pressed=${chosen === null} disabled=${!isOpen} onClick=${() => setChosen(null)}>
            <kbd>${DOES_NOT_APPLY}</kbd><b>–</b><span>It does not apply${rubric.notApplicableWhen ? `: ${rubric.notApplicableWhen}` : "."}</span>
          </button>
        </fieldset>
        ${isOpen && html`<${Field} label="Why" name="explanation" rows=${3} value=${explanation} onInput=${setExplanation} problem=${problem} hint="E goes here, Escape back to the keys" />`}
        <${Trouble} problem=${problem} />
        ${!isOpen && html`<${Said} said=${said} task=${task} />`}
        <div class="dialog-actions">
          ${isOpen
            ? html`
              <button type="button" class="primary" disabled=${busy || chosen === undefined} onClick=${submit}>Submit <kbd aria-hidden="true">Enter</kbd></button>
              ${said === null && html`<button type="button" onClick=${onSkip}>Skip <kbd aria-hidden="true">s</kbd></button>`}`
            : html`
              <button type="button" class="primary" disabled=${loading} onClick=${onNext}>Next <kbd aria-hidden="true">Enter</kbd></button>
              ${task === "rating" && html`<button type="button" onClick=${() => setCorrecting(true)}>Correct <kbd aria-hidden="true">c</kbd></button>`}`}
        </div>
        ${isCorrecting && html`<p class="hint">You have seen what the judge said: in the held-out half the correction counts for nothing.</p>`}
        ${isOpen && said === null && html`<p class="hint">Yours until ${minute(given.heldUntil)}.</p>`}
      </div>
    </div>
  `;
}

function Said({ said, task }) {
  if (task === "adjudication") return html`<div class="said-by" role="status"><p>It is decided.</p></div>`;
  const { result } = said;
  return html`
    <div class="said-by" role="status">
      <h3>The judge</h3>
      ${result === null
        ? html`<p>It has not judged this sample yet.</p>`
        : html`<p>${result.status === "scored" ? html`<${LevelMark} value=${result.score} />` : html`<${Badge}>${result.status}<//> ${words(result.reason)}`} ${result.explanation}</p>`}
    </div>
  `;
}

// Whether an instant has passed.
function useEnd(at) {
  const [isPast, setPast] = useState(false);
  useEffect(() => {
    const left = new Date(at).getTime() - Date.now();
    setPast(left <= 0);
    const timer = setTimeout(() => setPast(true), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [at]);
  return isPast;
}
