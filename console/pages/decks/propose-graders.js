// Having a model propose graders from a deck's prompt: what it costs, how far it is, what came of it.

import { newIdempotencyKey, send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Field } from "../../components/field.js";
import { Facts, FactsToCome, Page, Section } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, words } from "../../format.js";
import { html, useEffect, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { AskedModel, NOBODY, capOf, modelOf } from "./asked-model.js";

const PROPOSER_TOKENS = 16_000;
const JUDGE_TOKENS = 1_000;
const JUDGES = [["same", "the same model"], ["", "nobody yet: each needs a judge before it is activated"]];
const whileRunning = ({ run }) => (run.status === "running" ? 3 : undefined);

/** Of a deck that there is: `#/decks/ID/propose`, with the run in the query once it has started. */
export function ProposeGraders({ deckId, query }) {
  const { data, problem, again } = useApi(`decks/${deckId}`);
  const path = ["decks", deckId, "propose"];
  const isThere = data !== null;
  return html`
    <${Page} title="Graders from the prompt" about=${html`A model reads the system prompt, and writes three to seven rubrics. They grade nothing before you activate them. <a href=${link(["decks", deckId])}>To the deck</a>`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && (query.run
        ? html`<${Followed} key=${query.run} deckId=${deckId} id=${query.run} />`
        : html`<${Form} deckId=${deckId} onStarted=${(run) => go(path, { run: run.id })} />`)}
    <//>
  `;
}

function Form({ deckId, onStarted }) {
  const connections = useApi("llm-connections", { limit: 200 });
  const [entered, setEntered] = useState({ ...NOBODY, judge: "same" });
  const [estimate, setEstimate] = useState(null);
  const [key, setKey] = useState(newIdempotencyKey);
  const { act, problem, busy } = useAct();
  const of = `decks/${deckId}/graders/propose`;
  const enter = (name, value) => {
    setKey(newIdempotencyKey());
    if (name !== "cap") setEstimate(null); // of another model
    setEntered((old) => ({ ...old, [name]: value }));
  };
  const next = async (event) => {
    event.preventDefault();
    if (busy) return;
    const body = { proposer: modelOf(entered, PROPOSER_TOKENS), judge: entered.judge ? modelOf(entered, JUDGE_TOKENS) : undefined };
    if (estimate === null) {
      const answer = await act(() => send("POST", `${of}/estimate`, body));
      if (answer) setEstimate(answer.estimate);
      return;
    }
    const answer = await act(() => send("POST", of, { ...body, capNanoUsd: capOf(entered.cap) }, { idempotencyKey: key }));
    if (answer) onStarted(answer.run);
  };
  if (connections.data === null && connections.problem === null) return html`<${FactsToCome} />`;
  return html`
    <form class="form narrow" onSubmit=${next}>
      <${AskedModel} entered=${entered} onEnter=${enter} connections=${connections} problem=${problem} capHint=${estimate ? `Empty: ${nanoDollars(estimate.boundNanoUsd)}, what it costs at most` : "Empty: what it costs at most"} />
      <${Field} label="The rubrics are judged by" name="judge" value=${entered.judge} onInput=${(value) => enter("judge", value)} options=${JUDGES} problem=${problem} />
      ${estimate && html`
        <${Facts} facts=${[["Probably", nanoDollars(estimate.estimateNanoUsd)], ["At most", nanoDollars(estimate.boundNanoUsd)]]} />
        ${!estimate.fits && html`<p class="notice">Your budget has no room for the most that it may cost. The run waits for it, or stops.</p>`}`}
      <${Trouble} problem=${problem} />
      <div class="dialog-actions">
        <button type="submit" class="primary" disabled=${busy}>${estimate ? "Have it propose" : "What does it cost?"}</button>
        <a class="button" href=${link(["decks", deckId])}>Not now</a>
      </div>
    </form>
  `;
}

function Followed({ deckId, id }) {
  const { data, problem, again } = useApi(`decks/${deckId}/runs/${id}`, {}, { every: whileRunning });
  return html`
    <${Trouble} problem=${problem} again=${again} />
    ${!data && !problem && html`<${FactsToCome} />`}
    ${data && html`<${Proposed} run=${data.run} />`}
  `;
}

/** What a run that proposes has come to so far. */
export function Proposed({ run }) {
  const { deckId, status, proposal } = run;
  const isRunning = status === "running";
  const ids = proposal?.graderIds ?? [];
  const graders = useApi(`decks/${deckId}/graders`);
  useEffect(() => graders.again(), [ids.length]);
  const nameOf = (graderId) => graders.data?.graders.find((one) => one.id === graderId)?.name ?? graderId;
  return html`
    ${isRunning && html`<p class="waits" role="status">${run.waitingBecause ? `It waits: ${words(run.waitingBecause)}. It goes on by itself.` : "The model is at work; this page shows what comes."}</p>`}
    ${!isRunning && ids.length === 0 && html`<p class="notice" role="status">Nothing could be kept of what the model proposed${run.stoppedBecause ? `, because of its ${words(run.stoppedBecause)}` : ""}. Its faults are below.</p>`}
    <${Facts} facts=${[
      ["Status", html`<${Badge} tone=${isRunning ? "warning" : undefined}>${status}<//>`],
      ["Model", proposal?.model],
      ["Of the prompt’s version", count(proposal?.deckVersion)],
      ["Asked again", count(proposal?.repairs)],
      ["Cost", `${nanoDollars(run.costNanoUsd)} of ${nanoDollars(run.capNanoUsd)}`],
    ]} />
    ${ids.length > 0 && html`
      <${Section} title="Proposed graders">
        <p class="note">Read each, edit it where it is wrong, and activate what is right.</p>
        <ul class="plain-list">${ids.map((graderId) => html`<li key=${graderId}><a href=${link(["decks", deckId, "graders", graderId])}>${nameOf(graderId)}</a></li>`)}</ul>
      <//>`}
    ${proposal?.refused.length > 0 && html`
      <${Section} title="Not kept">
        <ul>${proposal.refused.map(({ name, faults }, index) => html`<li key=${index}>${name ?? "The whole answer"}: ${faults.map(words).join(", ")}</li>`)}</ul>
      <//>`}
  `;
}
