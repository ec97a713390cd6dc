// Replaying an edit once it is known what that costs, and deciding what becomes of it.

import { send, useAct } from "../../api.js";
import { FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Facts } from "../../components/page.js";
import { count, nanoDollars } from "../../format.js";
import { html, useState } from "../../preact.js";
import { capOf } from "./asked-model.js";
import { consentText } from "./measures.js";

const HALVES = { development: "development half", holdout: "held-out half" };
const BEFOREHAND = [["", "to be decided once it is measured"], ["yes", "accepted by itself, if the figures allow it and no consent is needed"]];

/** Says what a replay costs, and which look it spends, before it is started. */
export function Replay({ of, edit, split, onDone, onClose }) {
  const [entered, setEntered] = useState({ cap: "", since: "", beforehand: "" });
  const [estimate, setEstimate] = useState(null);
  const { act, problem, busy } = useAct();
  const isLook = split === "holdout";
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const enterSince = (since) => {
    setEstimate(null); // another look, of another level
    enter("since")(since);
  };
  const body = { split };
  if (isLook && entered.since) body.labelsSince = new Date(entered.since).toISOString();
  if (isLook && entered.beforehand) body.acceptIfBetter = true;
  const next = async () => {
    if (estimate === null) {
      const answer = await act(() => send("POST", `${of}/edits/${edit.id}/estimate`, body));
      if (answer) setEstimate(answer.estimate);
      return;
    }
    const whole = { ...body, capNanoUsd: capOf(entered.cap) };
    if (await act(() => send("POST", `${of}/edits/${edit.id}/replay`, whole))) onDone();
  };
  return html`
    <${FormDialog} title=${`Replay on the ${HALVES[split]}`} submit=${estimate === null ? "What does it cost?" : isLook ? "Spend the look" : "Start"} busy=${busy} problem=${problem} onSubmit=${next} onClose=${onClose}>
      <p>${isLook
        ? "The edited version judges the labelled samples that are held out. This spends a look at their labels: it is counted for good, and each look asks for more than the one before."
        : "The edited version judges the labelled samples of the development half. That is for choosing, and spends no look."}</p>
      ${isLook && edit.look === null && html`
        <${Field} label="Only labels given after" name="labelsSince" type="datetime-local" value=${entered.since} onInput=${enterSince} problem=${problem} hint="Empty: all. Of fresh labels alone, looks from before do not count." />
        <${Field} label="Afterwards it is" name="acceptIfBetter" value=${entered.beforehand} onInput=${enter("beforehand")} options=${BEFOREHAND} problem=${problem} />`}
      ${estimate && html`
        <${Facts} facts=${[
          ["Judgements to pay", count(estimate.requests)],
          ["There already", count(estimate.known)],
          ["Probably", nanoDollars(estimate.estimateNanoUsd)],
          ["At most", nanoDollars(estimate.boundNanoUsd)],
          ["Look", isLook && `${count(estimate.look)}, of level ${estimate.alpha}`],
        ]} />
        ${!estimate.fits && html`<p class="notice">Your budget has no room for the most that it may cost. The run waits for it, or stops.</p>`}
        <${Field} label="Stop before it costs more than, in dollars" name="capNanoUsd" type="number" min="0" step="any" value=${entered.cap} onInput=${enter("cap")} problem=${problem} hint=${`Empty: ${nanoDollars(estimate.boundNanoUsd)}, what it costs at most`} />`}
    <//>
  `;
}

const WHAT = {
  accept: ["Accept the edit?", "Accept", "The edited version becomes the current one: the next runs judge by it. Nothing is overwritten, and it can be rolled back."],
  reject: ["Reject the edit?", "Reject", "Its version never becomes the current one. What was measured stays readable."],
  rollback: ["Roll the edit back?", "Roll back", "The version from before becomes the current one again. Nothing is overwritten."],
};

/** Asks whether to accept an edit, reject it, or take back that it was accepted. */
export function Decide({ of, edit, what, onDone, onClose }) {
  const [reason, setReason] = useState("");
  const [isConsent, setConsent] = useState(false);
  const { act, problem, busy } = useAct();
  const [title, yes, told] = WHAT[what];
  const isAsked = what === "accept" && edit.effect.outcome === "needs_consent";
  const decide = async () => {
    const body = what === "accept" ? { consent: isConsent } : { reason };
    if (await act(() => send("POST", `${of}/edits/${edit.id}/${what}`, body))) onDone();
  };
  return html`
    <${FormDialog} title=${title} submit=${yes} busy=${busy} problem=${problem} onSubmit=${decide} onClose=${onClose}>
      <p>${told}</p>
      ${isAsked && html`
        <p class="notice">${consentText(edit.effect)}.</p>
        <label class="check"><input type="checkbox" name="consent" checked=${isConsent} onChange=${(event) => setConsent(event.target.checked)} required /> I consent to that</label>`}
      ${what !== "accept" && html`<${Field} label="Why" name="reason" value=${reason} onInput=${setReason} problem=${problem} />`}
    <//>
  `;
}
