// Starting a run once it is known what it costs, and canceling one.

import { newIdempotencyKey, send, useAct, useApi } from "../../api.js";
import { Confirm, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Facts } from "../../components/page.js";
import { count, nanoDollars } from "../../format.js";
import { html, useState } from "../../preact.js";

const NANO = 1e9;
const LABELLED = "labelled";
const SAMPLES = [["", "both halves"], ["development", "development"], ["holdout", "held out"], [LABELLED, "held out, drawn and rated by people"]];

/** What is chosen where the labelled samples of a grader are to be judged again: those that it is measured on. */
export function measuredAnew(graderId) {
  return { graderId, samples: LABELLED, repeat: "yes" };
}

/** What is chosen where the responses of an edit of the system prompt are to be judged. */
export function responsesOf(promptEditId) {
  return { graderId: "", samples: "", repeat: "", promptEditId };
}

/** Asks what is graded, says what that costs, and starts it: `onDone` gets the run; `chosen` is as of `measuredAnew` or `responsesOf`. */
export function StartRun({ deckId, chosen, onDone, onClose }) {
  const graders = useApi(`decks/${deckId}/graders`);
  const [entered, setEntered] = useState(chosen ?? { graderId: "", samples: "", repeat: "" });
  const active = (graders.data?.graders ?? []).filter(({ status }) => status === "active");
  const body = { repeat: entered.repeat !== "" };
  if (entered.graderId) body.graderIds = [entered.graderId];
  if (entered.samples === LABELLED) body.labelled = true;
  else if (entered.samples) body.split = entered.samples;
  if (entered.promptEditId) body.promptEditId = entered.promptEditId;
  const choices = entered.promptEditId ? SAMPLES.filter(([name]) => name !== LABELLED) : SAMPLES;
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  return html`
    <${Costing} key=${JSON.stringify(body)} deckId=${deckId} title=${entered.promptEditId ? "Judge the responses" : "Grade samples"} body=${body} problem=${graders.problem} onDone=${onDone} onClose=${onClose}>
      <${Field} label="By" name="graderIds" value=${entered.graderId} onInput=${enter("graderId")} options=${[["", "all active graders"], ...active.map(({ id, name }) => [id, name])]} />
      <${Field} label="Which samples" name="split" value=${entered.samples} onInput=${enter("samples")} options=${choices} />
      <${Field} label="What was judged" name="repeat" value=${entered.repeat} onInput=${enter("repeat")} options=${[["", "is not judged or paid again"], ["yes", entered.samples === LABELLED ? "is judged again, all of it: does it hold still?" : "is judged again, twenty samples: does the judge agree with itself?"]]} />
    <//>
  `;
}

/** Says what judging three samples of the development half costs, and has it done. */
export function TryOnThree({ deckId, grader, onDone, onClose }) {
  const { data, problem } = useApi(`decks/${deckId}/samples`, { split: "development", limit: 3 });
  const samples = data?.samples ?? null;
  if (samples === null || samples.length === 0) {
    return html`
      <${FormDialog} title=${`Try ${grader.name}`} submit="Try" busy=${true} problem=${problem} onSubmit=${() => {}} onClose=${onClose}>
        <p>${samples === null ? "Looking for samples." : "There is no sample in the development half yet."}</p>
      <//>`;
  }
  const body = { graderIds: [grader.id], sampleIds: samples.map(({ id }) => id), repeat: false };
  return html`
    <${Costing} deckId=${deckId} title=${`Try ${grader.name}`} body=${body} onDone=${onDone} onClose=${onClose}>
      <p>It judges the ${samples.length === 1 ? "newest sample" : `${samples.length} newest samples`} of the development half.</p>
    <//>
  `;
}

function Costing({ deckId, title, body, problem: before, onDone, onClose, children }) {
  const [estimate, setEstimate] = useState(null);
  const [cap, setCap] = useState("");
  const [key] = useState(newIdempotencyKey);
  const { act, problem, busy } = useAct();
  const next = async () => {
    if (estimate === null) {
      const answer = await act(() => send("POST", `decks/${deckId}/estimate`, body));
      if (answer) setEstimate(answer.estimate);
      return;
    }
    const whole = cap === "" ? body : { ...body, capNanoUsd: Math.round(Number(cap) * NANO) };
    const answer = await act(() => send("POST", `decks/${deckId}/runs`, whole, { idempotencyKey: `${key}-${cap}` }));
    if (answer) onDone(answer.run);
  };
  return html`
    <${FormDialog} title=${title} submit=${estimate ? "Start" : "What does it cost?"} busy=${busy} problem=${problem ?? before} onSubmit=${next} onClose=${onClose}>
      ${children}
      ${estimate && html`
        <${Facts} facts=${[
          ["Judgements to pay", count(estimate.requests)],
          ["There already", count(estimate.known)],
          ["Probably", nanoDollars(estimate.estimateNanoUsd)],
          ["At most", nanoDollars(estimate.boundNanoUsd)],
        ]} />
        ${!estimate.fits && html`<p class="notice">Your budget has no room for the most that it may cost. The run waits for it, or stops.</p>`}
        <${Field} label="Stop before it costs more than, in dollars" name="capNanoUsd" type="number" min="0" step="any" value=${cap} onInput=${setCap} problem=${problem}
          hint=${`Empty: ${nanoDollars(estimate.boundNanoUsd)}, what it costs at most`} />`}
    <//>
  `;
}

/** Asks whether to have a run begin nothing more. */
export function CancelRun({ run, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const cancel = async () => {
    if (await act(() => send("POST", `decks/${run.deckId}/runs/${run.id}/cancel`))) onDone();
  };
  return html`
    <${Confirm} title="Cancel the run?" yes="Cancel the run" busy=${busy} problem=${problem} onYes=${cancel} onClose=${onClose}>
      ${count(run.counts.pending)} judgements are pending. What is being asked may still be paid, and its results are stored; nothing more begins.
    <//>
  `;
}
