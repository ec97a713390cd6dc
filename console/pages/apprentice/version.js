// One version's life: what it was made of, how it was judged, and how it stands beside the paid model.

import { useApi } from "../../api.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { TimeLine } from "../../components/timeline.js";
import { Trouble } from "../../components/trouble.js";
import { count, percent } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { Certificate } from "./certificate.js";
import { REASONS, TaskPage } from "./frame.js";
import { evidenceOf, stageOf } from "./standing.js";
import { Trained } from "./trained.js";
import { VersionActions } from "./version-actions.js";

const MOST_AT_ONCE = 200;
const WHOLE = "trainings";

export function Version({ name, id }) {
  const of = `apprentice/tasks/${encodeURIComponent(name)}`;
  const version = useApi(`${of}/versions/${encodeURIComponent(id)}`);
  const status = useApi(`${of}/status`);
  const trainings = useApi(`${of}/trainings`, { limit: MOST_AT_ONCE }, { whole: WHOLE });
  const asked = [version, status, trainings];
  const troubled = asked.find(({ problem }) => problem !== null);
  const isThere = asked.every(({ data }) => data !== null);
  return html`
    <${TaskPage} name=${name} open="Versions" about=${`Version ${id} of the small model`}
      actions=${isThere ? html`<${VersionActions} name=${name} version=${version.data.version} stage=${stageIn(status.data.status, version.data.version)} onDone=${() => asked.forEach(({ again }) => again())} />` : null}>
      <${Trouble} problem=${troubled?.problem} again=${troubled?.again} />
      ${!isThere && !troubled && html`<${FactsToCome} />`}
      ${isThere && html`<${Life} name=${name} version=${version.data.version} standings=${status.data.status.versions} trainings=${trainings.data.trainings} />`}
    <//>
  `;
}

function stageIn({ versions }, { number }) {
  return versions.find((one) => one.number === number)?.stage;
}

function Life({ name, version, standings, trainings }) {
  const standing = standings.find(({ number }) => number === version.number);
  const training = trainings.find((one) => one.version === version.number);
  const own = { ...version, standing };
  return html`
    <${Facts} facts=${[
      ["Stage", stageOf(own)],
      ["Evidence", evidenceOf(own)],
      ["Model", html`<code>${version.model}</code>`],
      ["What was served under that name", !training && version.digest && html`<code>${version.digest}</code>`],
      ["Gate", version.needsGate && "its hold-out was judged behind its gate, which it keeps whatever local.gate says"],
      ["Training", training ? html`<a href=${link(["apprentice", name, "trainings", String(training.number)])}>training ${count(training.number)}</a>` : "none: it was registered"],
      ["Pairs", html`<a href=${link(["apprentice", name, "pairs"], { version: version.number })}>pairs of version ${count(version.number)}</a>`],
    ].map(([title, value]) => [title, value || null])} />
    ${standing && html`<${Beside} standing=${standing} />`}
    ${training && html`<${Trained} training=${training} />`}
    <${Section} title="Its life"><${TimeLine} label="Its life" entries=${lifeOf(own, training)} /><//>
    ${training && html`<${Certificate} name=${name} number=${version.number} />`}
  `;
}

// What its pairs say, once it is asked beside the paid model.
function Beside({ standing }) {
  const { pairs, agreement, alarms, sampling, graduatedAt } = standing;
  return html`
    <${Section} title="Beside the paid model">
      <${Stats}>
        <${Stat} label="Agrees" value=${percent(agreement.mean)} hint=${`of ${count(agreement.pairs)} pairs; ${count(pairs)} in all`} />
        <${Stat} label="At least" value=${percent(agreement.pairs === 0 ? null : agreement.bound)} hint=${`with a probability of ${percent(agreement.confidence)}`} />
        <${Stat} label="Evidence" value=${count(agreement.evidence)} hint=${graduatedAt === null ? `graduates at ${count(agreement.evidenceNeeded)}` : `graduated at pair ${count(graduatedAt)}`} />
        <${Stat} label="Checked" value=${percent(sampling.rate)} hint=${alarms === 0 ? REASONS[sampling.reason] : `${REASONS[sampling.reason]}; ${count(alarms)} alarms so far`} />
      <//>
    <//>
  `;
}

// Oldest first, and last what is to come.
function lifeOf(version, training) {
  const { number, state, createdAt, createdBy, retiredAt, retiredBy, wasCanary, standing } = version;
  const entries = [];
  if (training) entries.push({ at: training.createdAt, title: `Training ${count(training.number)} began`, detail: `by ${training.createdBy}` });
  entries.push({ at: createdAt, title: training ? `It became version ${count(number)}` : "It was registered", detail: training ? "in shadow" : `by ${createdBy}` });
  entries.push(...happened(version));
  if (retiredAt) entries.push({ at: retiredAt, title: wasCanary ? "It was rolled back" : "It was retired", detail: `${wasCanary ? "in its canary, " : ""}by ${retiredBy}`, tone: "trouble" });
  entries.sort((one, other) => placeOf(one) - placeOf(other));
  const next = state === "retired" ? null : toCome(standing);
  return next ? [...entries, next] : entries;
}

// What its pairs did to it, in their order: one that was counted late has an earlier date than what was before it. Of the
// last promotion it is known whose it was, and of the present step of its canary how far it has come.
function happened({ state, changes, promotedAt, promotedBy, standing }) {
  let latest = 0;
  const told = changes.map((change) => {
    latest = Math.max(latest, Date.parse(change.at));
    return { at: change.at, place: latest, ...CHANGES[change.kind](change) };
  });
  const tell = (index, more) => (index === -1 ? told.push(more) : (told[index] = { ...more, place: told[index].place }));
  if (promotedAt) {
    const index = changes.findLastIndex(({ kind, at }) => kind === "promoted" && Date.parse(at) >= Date.parse(promotedAt));
    tell(index, { at: promotedAt, title: "It was promoted", detail: promotedBy && `by ${promotedBy}`, tone: "good" });
  }
  const step = state === "retired" ? null : presentStep(standing);
  if (step) {
    const index = changes.findLastIndex(({ kind }) => kind !== "coverage");
    tell(STEPS.includes(changes[index]?.kind) ? index : -1, step);
  }
  return told;
}

function placeOf({ at, place }) {
  return place ?? Date.parse(at);
}

const STEPS = ["canary_began", "canary_advanced"];

const CHANGES = {
  canary_began: ({ share, sequence }) => ({ title: `It answers ${percent(share)} of all inputs`, detail: `it graduated at pair ${count(sequence)}` }),
  canary_advanced: ({ share, sequence, meanAgreement }) => ({ title: `It answers ${percent(share)} of all inputs`, detail: `from pair ${count(sequence)} on; ${agreeing(meanAgreement)}` }),
  canary_rolled_back: ({ sequence }) => ({ title: "Its canary was ended", detail: `at pair ${count(sequence)}: it answers nobody`, tone: "trouble" }),
  promoted: () => ({ title: "It was promoted", tone: "good" }),
  alarm: ({ sequence, meanAgreement }) => ({ title: "It raised an alarm", detail: `at pair ${count(sequence)}; ${agreeing(meanAgreement)}`, tone: "trouble" }),
  emergency: ({ sequence, meanAgreement }) => ({ title: "It raised an emergency", detail: `at pair ${count(sequence)}; ${agreeing(meanAgreement)}; it is asked nothing any more`, tone: "trouble" }),
  coverage: ({ share }) => ({ title: "It is sure of fewer inputs", detail: `of ${percent(share)}: all that it answers is checked for a while`, tone: "warning" }),
};

function agreeing(mean) {
  return mean === null ? "too few pairs for a mean" : `it agrees in ${percent(mean)} of its last pairs`;
}

function presentStep(standing) {
  if (standing?.stage !== "canary" || !standing.canary) return null;
  const { since, share, step, steps, pairs, pairsNeeded } = standing.canary;
  return { at: since, title: `It answers ${percent(share)} of all inputs`, detail: `step ${count(step)} of ${count(steps)}: ${count(pairs)} of ${count(pairsNeeded)} answers were checked`, tone: "warning" };
}

function toCome(standing) {
  if (!standing || standing.emergencyAt !== null) return null;
  const { stage, agreement, canary } = standing;
  if (stage === "shadow") return { at: null, title: "It graduates", detail: `once its evidence reaches ${count(agreement.evidenceNeeded)}` };
  if (stage !== "canary" || !canary) return null;
  return { at: null, title: canary.step < canary.steps ? "It answers more" : "It serves", detail: canary.isAutomatic ? "once those are checked, or the first one after a day, without an alarm" : "once a person promotes it: the configuration has no training" };
}
