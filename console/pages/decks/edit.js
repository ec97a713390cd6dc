// One edit of a rubric: its patch, what it changes on each half, and what can be done with it.

import { Badge } from "../../components/badge.js";
import { Interval } from "../../components/interval.js";
import { Facts } from "../../components/page.js";
import { TextDifference } from "../../components/text-difference.js";
import { Time } from "../../components/time.js";
import { count, difference, level, percent, score, words } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { consentText, insufficientText, undefinedText } from "./measures.js";

const FIELDS = { criteria: "Criteria", notApplicableWhen: "When it does not apply", examples: "A new example" };
const REFUSALS = {
  agrees_less: "it agrees less with people, by more than chance explains",
  scores_less: "it gives fewer samples a level, by more than two points",
  bias_grows: "its bias grows, by more than chance explains",
  scores_inapplicable: "it gives more samples a level to which the question does not apply, by more than chance explains",
};
const TONES = { accepted: "good", rejected: "trouble", measured: "warning" };

/** `current` is the grader's version; `ask` gets what is to be done: a half, accept, reject or rollback. */
export function Edit({ edit, current, ask }) {
  const { status, pattern, note, origin, baseVersion, candidateVersion, unfinished } = edit;
  const name = pattern?.name ?? (note || "An edit");
  return html`
    <article class="disagreement edit" aria-label=${name}>
      <h3>${name} <${Badge} tone=${TONES[status]}>${status}<//></h3>
      <p class="why">Of version ${count(baseVersion)}${candidateVersion === null ? "" : `, as version ${count(candidateVersion)}`}, by ${origin === "model" ? "a model" : html`<code>${edit.createdBy}</code>`}, <${Time} at=${edit.createdAt} relative /></p>
      ${pattern?.description && html`<p>${pattern.description}</p>`}
      ${pattern && note && html`<p class="hint">${note}</p>`}
      ${edit.patch.map((change, index) => html`<${Change} key=${index} change=${change} />`)}
      ${edit.sampleIds.length > 0 && html`<p class="hint">It cites ${edit.sampleIds.map((id, index) => html`${index > 0 ? ", " : ""}<a key=${id} href=${link(["decks", edit.deckId, "samples", id])}>sample ${index + 1}</a>`)}.</p>`}
      ${(edit.trial || edit.effect) && html`<div class="pairs">${edit.trial && html`<${Trial} trial=${edit.trial} />`}${edit.effect && html`<${Effect} effect=${edit.effect} />`}</div>`}
      ${unfinished && html`<p class="notice">Its latest replay ended ${words(unfinished)}, and measured nothing. ${edit.look === null ? "" : "Its look is spent; replaying it again spends no other."}</p>`}
      ${edit.reason && html`<p class="hint">${words(status)}: ${edit.reason}</p>`}
      <${Actions} edit=${edit} current=${current} ask=${ask} />
    </article>
  `;
}

function Change({ change }) {
  const { field, find, replace, example } = change;
  const name = field === "level" ? `Level ${level(change.level)}` : (FIELDS[field] ?? field);
  return html`
    <div class="text">
      <p class="text-head">${name}</p>
      ${example
        ? html`<p>${level(example.level)}: ${example.output} <span class="why">${example.explanation}</span></p>`
        : html`<${TextDifference} label=${`What changes in ${name}`} before=${find} after=${replace} />`}
    </div>
  `;
}

// What both halves say.
function common({ old, new: after, scored, inapplicable, newlyPositive, otherModel }) {
  const kappa = (it) => (it.value === null ? undefinedText(it) : score(it.value));
  const share = (it) => (scored.n === 0 ? "–" : percent(it / scored.n));
  return [
    ["κ", `${kappa(old)} → ${kappa(after)}`],
    ["Samples", count(scored.n)],
    ["Share with a level", html`${share(scored.old)} → ${share(scored.new)} ${scored.holds ? "" : html`<${Badge} tone="trouble">falls<//>`}`],
    ["Newly called positive, though at -3 or -2", count(newlyPositive)],
    // Of what was measured before these were counted, nothing.
    ["With a level, though the question does not apply", inapplicable && html`${count(inapplicable.old)} → ${count(inapplicable.new)} of ${count(inapplicable.n)} ${inapplicable.holds ? "" : html`<${Badge} tone="trouble">grows<//>`}`],
    ["Left out, as no model judged both", otherModel > 0 && count(otherModel)],
  ];
}

function Trial({ trial }) {
  return html`
    <section class="said-by" aria-label="On the development half">
      <h4>Development half</h4>
      <${Facts} facts=${[["Δ of κ", trial.delta === null ? "undefined" : difference(trial.delta)], ...common(trial)]} />
      <p class="hint">For choosing what to try; it backs no claim.</p>
    </section>
  `;
}

function Effect({ effect }) {
  const { delta, low, high, alpha, bias } = effect;
  const sure = percent(1 - 2 * alpha);
  return html`
    <section class="said-by" aria-label="On the half that is held out">
      <h4>Held out: what counts</h4>
      ${delta === null
        ? html`<p>Δ of κ: undefined</p>`
        : html`<${Interval} label="Δ of κ" value=${delta} low=${low} high=${high} sure=${sure} ends=${["worse", "better"]} told=${low === null ? `Δ ${difference(delta)}, no interval` : `Δ ${difference(delta)}, ${difference(low)} to ${difference(high)}`} />`}
      <${Facts} facts=${[
        ...common(effect),
        ["Bias", html`${biasOf(bias.old)} → ${biasOf(bias.new)} ${bias.holds ? "" : html`<${Badge} tone="trouble">grows<//>`}`],
        ["Δ that so many labels would find", effect.detectable === null ? "none" : difference(effect.detectable)],
        ["Groups of samples", effect.effectiveGroups === null ? count(effect.groups) : `${count(effect.groups)}, worth ${effect.effectiveGroups.toFixed(1)} of equal size`],
        ["Look", `${count(effect.look)}, of level ${alpha}`],
      ]} />
      <p><b>${outcomeOf(effect)}</b></p>
    </section>
  `;
}

const biasOf = (value) => (value === null ? "undefined" : difference(value));

/** What the figures mean for an edit, in words. */
export function outcomeOf(effect) {
  const { outcome, refusals, insufficientBecause } = effect;
  const better = "It agrees better with people, by more than chance explains";
  const told = {
    acceptable: `${better}.`,
    needs_consent: `${better}. It needs your consent: ${consentText(effect)}.`,
    refused: `It is refused: ${refusals.map((it) => REFUSALS[it] ?? words(it)).join("; ")}.`,
    no_evidence: "No evidence: the difference may be chance.",
    insufficient: insufficientText({ sufficient: false, insufficientBecause }),
  };
  return told[outcome] ?? words(outcome);
}

function Actions({ edit, current, ask }) {
  const { status, trial, effect, baseVersion, candidateVersion, deckId, runId } = edit;
  const isOpen = status === "proposed" || status === "measured";
  const isOfNow = baseVersion === current;
  const mayAccept = status === "measured" && isOfNow && ["acceptable", "needs_consent"].includes(effect?.outcome);
  const button = (what, text, isMain) => html`<button type="button" class=${isMain ? "primary" : ""} onClick=${() => ask(what)}>${text}</button>`;
  return html`
    ${isOpen && !isOfNow && html`<p class="hint">It changes version ${count(baseVersion)}, and the current one is ${count(current)}: propose it anew.</p>`}
    <div class="dialog-actions">
      ${status === "replaying" && html`<a class="button" href=${link(["decks", deckId, "runs", runId])}>Its replay, under way</a>`}
      ${isOpen && isOfNow && !trial && button("development", "Replay on the development half", true)}
      ${isOpen && isOfNow && trial && !effect && button("holdout", "Replay on the held-out half", true)}
      ${mayAccept && button("accept", "Accept", true)}
      ${(isOpen || status === "replaying") && button("reject", "Reject")}
      ${status === "accepted" && candidateVersion === current && button("rollback", "Roll back")}
    </div>
  `;
}
