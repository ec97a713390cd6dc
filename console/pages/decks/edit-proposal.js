// Having a model propose edits, how far it is, and what was refused of it.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Facts, Section } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars } from "../../format.js";
import { html, useState } from "../../preact.js";
import { AskedModel, NOBODY, capOf, modelOf } from "./asked-model.js";

const MAX_TOKENS = 2_000;
const MOST_SAMPLES = 40;
const STEPS = {
  coding: "The model names what misled the judge, of one disagreement after the other.",
  merging: "What it named becomes patterns.",
  patching: "It writes an edit for each pattern.",
};
const FAILED = {
  no_codes: "No disagreement could be named.",
  no_patterns: "No pattern has a sample that shows it.",
  not_askable: "The model cannot be asked: its connection, its price or the budget is gone.",
  grader_changed: "Another version of the grader is the current one by now.",
  step_killed: "Functions were killed while they read what it needs.",
};

/** Whether a model is at work; `proposal` is null where none was asked yet. */
export const isAsking = (proposal) => (proposal ?? null) !== null && proposal.status in STEPS;

/** The latest proposal of a model, nothing where there is none; `of` is the grader's path. */
export function Proposal({ of, proposal, onCanceled }) {
  if ((proposal ?? null) === null) return null;
  return html`<${Proposed} of=${of} proposal=${proposal} onCanceled=${onCanceled} />`;
}

function Proposed({ of, proposal, onCanceled }) {
  const { status, failedBecause, patterns, refused, editIds, cancelRequestedAt } = proposal;
  const { act, problem, busy } = useAct();
  const mayCancel = isAsking(proposal) && !cancelRequestedAt;
  const cancel = async () => {
    if (await act(() => send("POST", `${of}/edits/proposals/cancel`))) onCanceled();
  };
  const told = (cancelRequestedAt && isAsking(proposal) ? "It is being canceled: what is being asked may be paid." : STEPS[status]) ?? FAILED[failedBecause] ?? (status === "stopped" ? "What is left of the cap is too little to go on." : null);
  return html`
    <${Section} title="What a model proposes">
      ${told && html`<p class=${isAsking(proposal) ? "waits" : "notice"} role="status">${told}</p>`}
      <${Facts} facts=${[
        ["Status", html`<${Badge} tone=${isAsking(proposal) ? "warning" : undefined}>${status}<//>`],
        ["Disagreements shown", count(proposal.shown)],
        ["Patterns", count(patterns.length)],
        ["Edits", count(editIds.length)],
        ...(proposal.unread > 0 ? [["Answers that could not be read", count(proposal.unread)]] : []),
        ["Cost", `${nanoDollars(proposal.costNanoUsd)} of ${nanoDollars(proposal.capNanoUsd)}`],
      ]} />
      <${Trouble} problem=${problem} />
      ${mayCancel && html`<button type="button" disabled=${busy} onClick=${cancel}>Cancel it</button>`}
      ${refused.length > 0 && html`<details class="figures"><summary>${count(refused.length)} refused</summary><ul>${refused.map(({ pattern, because }) => html`<li key=${pattern}>${pattern}: ${because}</li>`)}</ul></details>`}
    <//>
  `;
}

/** Asks which model, and what it may cost. */
export function AskForEdits({ of, onDone, onClose }) {
  const connections = useApi("llm-connections", { limit: 200 });
  const [entered, setEntered] = useState(NOBODY);
  const [samples, setSamples] = useState(String(MOST_SAMPLES));
  const [estimate, setEstimate] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name, value) => {
    if (name !== "cap") setEstimate(null); // of another model
    setEntered((old) => ({ ...old, [name]: value }));
  };
  const enterSamples = (value) => {
    setEstimate(null);
    setSamples(value);
  };
  const next = async () => {
    const body = { proposer: modelOf(entered, MAX_TOKENS), samples: Number(samples) };
    if (estimate === null) {
      const answer = await act(() => send("POST", `${of}/edits/proposals/estimate`, body));
      if (answer) setEstimate(answer.estimate);
      return;
    }
    const capNanoUsd = capOf(entered.cap) ?? estimate.boundNanoUsd;
    if (await act(() => send("POST", `${of}/edits/proposals`, { ...body, capNanoUsd }))) onDone();
  };
  return html`
    <${FormDialog} title="Have a model propose edits" submit=${estimate ? "Ask it" : "What does it cost?"} busy=${busy} problem=${problem} onSubmit=${next} onClose=${onClose}>
      <p>It is shown disagreements of the development half, finds patterns in them, and writes an edit for each. Nothing changes before you accept one.</p>
      <${AskedModel} entered=${entered} onEnter=${enter} connections=${connections} problem=${problem} capHint=${estimate ? `Empty: ${nanoDollars(estimate.boundNanoUsd)}, what it costs at most` : "Empty: what it costs at most"} />
      <${Field} label="Disagreements, the widest first" name="samples" type="number" min="1" max=${MOST_SAMPLES} value=${samples} onInput=${enterSamples} problem=${problem} required />
      ${estimate && html`
        <${Facts} facts=${[["Probably", nanoDollars(estimate.estimateNanoUsd)], ["At most", nanoDollars(estimate.boundNanoUsd)], ["Disagreements shown", count(estimate.shown)]]} />
        ${!estimate.fits && html`<p class="notice">Your budget has no room for the most that it may cost. What does not fit waits for it.</p>`}`}
    <//>
  `;
}
