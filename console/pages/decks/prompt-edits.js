// Edits of a deck's system prompt: what a model answers under each, what that changes, and what becomes of them.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { FormDialog } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Interval } from "../../components/interval.js";
import { Facts, FactsToCome } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, difference, nanoDollars, percent, score, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { NOBODY, capOf, modelOf } from "./asked-model.js";
import { DeckPage } from "./frame.js";
import { insufficientText } from "./measures.js";
import { responsesOf, StartRun } from "./run-dialogs.js";

const TONES = { accepted: "good", rejected: "trouble", generated: "warning" };
const OUTCOMES = {
  better: "Responses are better, by more than chance explains.",
  worse: "Responses are worse, by more than chance explains.",
  no_evidence: "No evidence: the difference may be chance.",
};
const MISSING = {
  missing_responses: "More than 5 % of the inputs have no response under both: nothing is claimed.",
  unequal_responses: "Under one prompt more responses are missing than chance explains: nothing is claimed.",
  other_model: "Another model was served under one prompt than under the other: nothing is claimed.",
  fewer_labels_than_planned: "Fewer labels than planned: nothing is claimed before each version has as many.",
};
const ANSWER_TOKENS = 1000;

export function PromptEdits({ deckId, query }) {
  const path = ["decks", deckId, "prompt-edits"];
  const deck = useApi(`decks/${deckId}`);
  const { data, problem, again } = useApi(`decks/${deckId}/prompt-edits`, { limit: 20, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const current = deck.data?.deck;
  const close = () => setAsked(null);
  const changed = () => {
    close();
    deck.again();
    again();
  };
  const ask = (edit) => (what) => setAsked({ edit, what });
  const edits = current ? data?.edits : null;
  return html`
    <${DeckPage} deckId=${deckId} open="Prompt edits" title=${current?.name ?? "Deck"} about="Another system prompt, by what one model answers under it and under the current one."
      actions=${current ? html`<button type="button" class="primary" onClick=${() => setAsked({ what: "new" })}>Try another prompt</button>` : null}>
      <${Trouble} problem=${deck.problem ?? problem} again=${changed} />
      ${!edits && !problem && html`<${FactsToCome} />`}
      ${edits?.length === 0 && html`<${Empty} title="No other prompt was tried" command=${`autotune decks prompt-edits propose ${deckId} prompt.md --connection llc_... --model MODEL`}>Another prompt is answered anew, labelled, and compared with the current one.<//>`}
      ${edits?.map((edit) => html`<${One} key=${edit.id} edit=${edit} current=${current.version} ask=${ask(edit)} />`)}
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${asked?.what === "new" && html`<${Propose} deck=${current} onDone=${changed} onClose=${close} />`}
    ${asked?.what === "generate" && html`<${Generate} edit=${asked.edit} onDone=${changed} onClose=${close} />`}
    ${asked?.what === "judge" && html`<${StartRun} deckId=${deckId} chosen=${responsesOf(asked.edit.id)} onDone=${(run) => go(["decks", deckId, "runs", run.id])} onClose=${close} />`}
    ${WHAT[asked?.what] && html`<${Decide} edit=${asked.edit} what=${asked.what} onDone=${changed} onClose=${close} />`}
  `;
}

function One({ edit, current, ask }) {
  const { deckId, status, baseVersion, candidateVersion, note, generator, inputs, unfinished, effects, look, reason, runId } = edit;
  const isOpen = status === "proposed" || status === "generated";
  const isOfNow = baseVersion === current;
  const button = (what, text, isMain) => html`<button type="button" class=${isMain ? "primary" : ""} onClick=${() => ask(what)}>${text}</button>`;
  return html`
    <article class="disagreement edit" aria-label=${`Version ${candidateVersion}`}>
      <h3>Version ${count(candidateVersion)} for version ${count(baseVersion)} <${Badge} tone=${TONES[status]}>${status}<//></h3>
      <p class="why">${note && `${note}, `}by <code>${edit.createdBy}</code>, <${Time} at=${edit.createdAt} relative />; <a href=${link(["decks", deckId, "versions"], { a: baseVersion, b: candidateVersion })}>what it changes</a></p>
      <p class="hint">${generator.model} answers ${inputs === 0 ? "the inputs once that is started" : `${count(inputs)} inputs under both`}. It is measured at ${count(edit.labels)} labels of each version, then at twice as many.</p>
      ${unfinished && html`<p class="notice">Its latest run was ${words(unfinished)}: what is missing can be generated.</p>`}
      ${effects.length > 0 && html`<div class="pairs">${effects.map((effect) => html`<${Effect} key=${effect.graderId} effect=${effect} look=${look} />`)}</div>`}
      ${reason && html`<p class="hint">${words(status)}: ${reason}</p>`}
      ${isOpen && !isOfNow && html`<p class="hint">The current version is ${count(current)}: propose it anew.</p>`}
      <div class="dialog-actions">
        ${status === "generating" && html`<a class="button" href=${link(["decks", deckId, "runs", runId])}>Its run, under way</a>`}
        ${isOpen && isOfNow && (status === "proposed" || unfinished) && button("generate", "Generate responses", true)}
        ${status === "generated" && button("judge", "Judge the responses")}
        ${status === "generated" && button("measure", "Measure, and spend a look")}
        ${isOpen && isOfNow && button("accept", "Accept", effects.length > 0)}
        ${(isOpen || status === "generating") && button("reject", "Reject")}
        ${status === "accepted" && candidateVersion === current && button("rollback", "Roll back")}
      </div>
    </article>
  `;
}

function Effect({ effect, look }) {
  const { graderName, delta, low, high, confidence, outcome, insufficientBecause, inputs, old, new: after, pairs } = effect;
  const unjudged = old.unjudged + after.unjudged;
  const why = old.insufficientBecause ?? after.insufficientBecause;
  const mean = (arm) => (arm.mean?.value == null ? "none" : score(arm.mean.value));
  return html`
    <section class="said-by" aria-label=${`By ${graderName}`}>
      <h4>By ${graderName}</h4>
      ${delta !== null && html`<${Interval} label="Change of the mean" value=${delta} low=${low} high=${high} sure=${percent(confidence)} ends=${["worse", "better"]} told=${low === null ? `${difference(delta)}, no interval` : `${difference(delta)}, ${difference(low)} to ${difference(high)}`} />`}
      <${Facts} facts=${[
        ["Mean level", outcome !== "insufficient" && `${mean(old)} → ${mean(after)}`],
        ["Labels", `${count(old.labels)} before, ${count(after.labels)} after`],
        ["Inputs answered", `${count(old.answered)} before, ${count(after.answered)} after, of ${count(inputs)}`],
        ["Inputs with both responses", count(pairs)],
        ["Not judged, so that labels alone count", unjudged > 0 && count(unjudged)],
        ["Drawn, without a truth that counts", old.withoutTruth + after.withoutTruth > 0 && `${count(old.withoutTruth)} before, ${count(after.withoutTruth)} after`],
        ["Look", outcome !== "insufficient" && look !== null && count(look)],
      ]} />
      <p><b>${OUTCOMES[outcome] ?? MISSING[insufficientBecause] ?? insufficientText({ sufficient: false, insufficientBecause: why })}</b></p>
    </section>
  `;
}

function Propose({ deck, onDone, onClose }) {
  const connections = useApi("llm-connections", { limit: 200 });
  const [entered, setEntered] = useState({ ...NOBODY, prompt: deck.systemPrompt, groups: "", labels: "", note: "" });
  const { act, problem, busy } = useAct();
  const enter = (name, value) => setEntered((before) => ({ ...before, [name]: value }));
  const by = (name) => (value) => enter(name, value);
  const add = async () => {
    const body = { systemPrompt: entered.prompt, note: entered.note, baseVersion: deck.version, generator: modelOf(entered, ANSWER_TOKENS) };
    if (entered.groups !== "") body.groups = Number(entered.groups);
    if (entered.labels !== "") body.labels = Number(entered.labels);
    if (await act(() => send("POST", `decks/${deck.id}/prompt-edits`, body))) onDone();
  };
  const choices = (connections.data?.connections ?? []).map(({ id, name }) => [id, name]);
  return html`
    <${FormDialog} title="Try another prompt" submit="Propose" busy=${busy} problem=${problem} onSubmit=${add} onClose=${onClose}>
      <${Field} label="System prompt" name="systemPrompt" rows=${10} value=${entered.prompt} onInput=${by("prompt")} problem=${problem} required />
      <${Field} label="Connection" name="generator.connectionId" value=${entered.connectionId} onInput=${by("connectionId")} options=${[["", "choose one"], ...choices]} problem=${problem ?? connections.problem} required />
      <${Field} label="Model that answers under both" name="generator.model" value=${entered.model} onInput=${by("model")} problem=${problem} required />
      <${Field} label="Groups of samples" name="groups" type="number" min="1" value=${entered.groups} onInput=${by("groups")} problem=${problem} hint="Drawn by chance from the held-out half. Empty: all" />
      <${Field} label="Labels of each version" name="labels" type="number" min="50" value=${entered.labels} onInput=${by("labels")} problem=${problem} hint="At which it is measured first, then at twice as many. Empty: 50" />
      <${Field} label="Note" name="note" value=${entered.note} onInput=${by("note")} problem=${problem} />
    <//>
  `;
}

function Generate({ edit, onDone, onClose }) {
  const of = `decks/${edit.deckId}/prompt-edits/${edit.id}`;
  const [estimate, setEstimate] = useState(null);
  const [cap, setCap] = useState("");
  const { act, problem, busy } = useAct();
  const next = async () => {
    if (estimate === null) {
      const answer = await act(() => send("POST", `${of}/estimate`));
      if (answer) setEstimate(answer.estimate);
    } else if (await act(() => send("POST", `${of}/generate`, { capNanoUsd: capOf(cap) }))) onDone();
  };
  return html`
    <${FormDialog} title="Generate responses" submit=${estimate === null ? "What does it cost?" : "Start"} busy=${busy} problem=${problem} onSubmit=${next} onClose=${onClose}>
      <p>${edit.generator.model} answers each input under both prompts, so that they are compared by responses of one model. The responses are samples of their versions.</p>
      ${estimate && html`
        <${Facts} facts=${[
          ["Inputs", count(estimate.samples)],
          ["Inputs that cannot be asked so", count(estimate.unusable)],
          ["Responses to pay", count(estimate.requests)],
          ["There already", count(estimate.known)],
          ["Probably", nanoDollars(estimate.estimateNanoUsd)],
          ["At most", nanoDollars(estimate.boundNanoUsd)],
        ]} />
        ${!estimate.fits && html`<p class="notice">Your budget has no room for the most that it may cost. The run waits for it, or stops.</p>`}
        <${Field} label="Stop before it costs more than, in dollars" name="capNanoUsd" type="number" min="0" step="any" value=${cap} onInput=${setCap} problem=${problem} hint=${`Empty: ${nanoDollars(estimate.boundNanoUsd)}, what it costs at most`} />`}
    <//>
  `;
}

const WHAT = {
  measure: ["Measure it?", "Spend the look", "Responses of both versions are compared by their labels. It spends a look, which makes the next interval wider; with too few labels it spends none."],
  accept: ["Accept the prompt?", "Accept", "Its version becomes the current one. Nothing is overwritten, and it can be rolled back."],
  reject: ["Reject the prompt?", "Reject", "Its version stays, with its responses, and is not the current one."],
  rollback: ["Roll the prompt back?", "Roll back", "The version from before becomes the current one again. Nothing is overwritten."],
};

function Decide({ edit, what, onDone, onClose }) {
  const [reason, setReason] = useState("");
  const [isConsent, setConsent] = useState(false);
  const { act, problem, busy } = useAct();
  const [title, yes, told] = WHAT[what];
  const outcomes = edit.effects.map(({ outcome }) => outcome);
  const isAsked = what === "accept" && (outcomes.includes("worse") || !outcomes.includes("better") || edit.effects.some((effect) => effect.insufficientBecause));
  const isReasoned = what === "reject" || what === "rollback";
  const decide = async () => {
    const body = what === "accept" ? { consent: isConsent } : isReasoned ? { reason } : undefined;
    if (await act(() => send("POST", `decks/${edit.deckId}/prompt-edits/${edit.id}/${what}`, body))) onDone();
  };
  return html`
    <${FormDialog} title=${title} submit=${yes} busy=${busy} problem=${problem} onSubmit=${decide} onClose=${onClose}>
      <p>${told}</p>
      ${isAsked && html`
        <p class="notice">The figures do not speak for it.</p>
        <label class="check"><input type="checkbox" name="consent" checked=${isConsent} onChange=${(event) => setConsent(event.target.checked)} required /> I want it all the same</label>`}
      ${isReasoned && html`<${Field} label="Why" name="reason" value=${reason} onInput=${setReason} problem=${problem} />`}
    <//>
  `;
}
