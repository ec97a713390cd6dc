// One training: what it learned from, how it was judged, and what came of it.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Confirm } from "../../components/dialog.js";
import { Facts, FactsToCome } from "../../components/page.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, duration, nanoDollars, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { TaskPage } from "./frame.js";
import { Trained } from "./trained.js";
import { TRAINED, whatCame, whatCancelingLeaves } from "./training-words.js";

const LIVE_SECONDS = 3;
const SECOND_MS = 1_000;
const CAUSES = { request: "somebody asked for it", examples: "there were examples enough", emergency: "a version raised an emergency" };
const LACKS = { capacity: "SageMaker has none", quota: "the account may have no more" };
const untilItEnds = ({ training }) => (training.state === "running" ? LIVE_SECONDS : undefined);

export function Training({ name, id }) {
  const { data, problem, again } = useApi(`apprentice/tasks/${encodeURIComponent(name)}/trainings/${encodeURIComponent(id)}`, {}, { every: untilItEnds });
  const training = data?.training;
  const [isAsked, setAsked] = useState(false);
  return html`
    <${TaskPage} name=${name} open="Trainings" about=${`Training ${id}`}
      actions=${training && actionOf(training, () => setAsked(true))}>
      <${Trouble} problem=${problem} again=${again} />
      ${!training && !problem && html`<${FactsToCome} />`}
      ${training && html`
        <${Outcome} name=${name} training=${training} />
        <${Trained} training=${training} />`}
      ${isAsked && training && html`<${training.modelKeptUntil ? HostAgain : Cancel} name=${name} training=${training} onClose=${() => setAsked(false)} onDone=${again} />`}
    <//>
  `;
}

function actionOf({ state, modelKeptUntil }, onClick) {
  if (state === "running") return html`<button type="button" onClick=${onClick}>Cancel training</button>`;
  return modelKeptUntil ? html`<button type="button" class="primary" onClick=${onClick}>Host its model</button>` : null;
}

function HostAgain({ name, training: { number }, onClose }) {
  const { act, problem, busy } = useAct();
  const host = async () => {
    const answer = await act(() => send("POST", `apprentice/tasks/${encodeURIComponent(name)}/trainings/${number}/host`));
    if (answer) go(["apprentice", name, "trainings", String(answer.training.number)]);
  };
  return html`
    <${Confirm} title=${`Host the model of training ${count(number)}?`} yes="Host" busy=${busy} problem=${problem} onYes=${host} onClose=${onClose}>
      A new training has it hosted and judges it. No job is paid for again; the instance that hosts it costs by the hour. If that ends before the model is judged, it is kept for 30 days from then.
    <//>
  `;
}

function Cancel({ name, training, onClose, onDone }) {
  const { number } = training;
  const { act, problem, busy } = useAct();
  const cancel = async () => {
    const answer = await act(() => send("POST", `apprentice/tasks/${encodeURIComponent(name)}/trainings/${number}/cancel`));
    if (!answer) return;
    onClose();
    onDone();
  };
  return html`
    <${Confirm} title=${`Cancel training ${count(number)}?`} yes="Cancel training" busy=${busy} problem=${problem} onYes=${cancel} onClose=${onClose}>
      No version comes of it. ${whatCancelingLeaves(training)}
    <//>
  `;
}

function Outcome({ name, training }) {
  const { state, version, cause, examples, configurationVersion, backend, job, createdAt, createdBy, endedAt, modelKeptUntil, modelTakenBy } = training;
  return html`
    <${Facts} facts=${[
      ["State", html`<${Badge} tone=${TRAINED[state]}>${state}<//>`],
      [state === "running" ? "Now" : "Why", whatCame(training)],
      ["Version", version !== null && html`<a href=${link(["apprentice", name, "versions", String(version)])}>version ${count(version)}</a>`],
      ["Why it began", `${CAUSES[cause] ?? words(cause)}; there were ${count(examples)} examples`],
      ["Backend", backend],
      ["Job", job && html`<code>${job.name}</code> on ${job.instanceType}`],
      ["Host", hostOf(training)],
      ["Model kept until", modelKeptUntil && html`<${Time} at=${modelKeptUntil} />`],
      ["Model taken by", modelTakenBy !== null && html`<a href=${link(["apprentice", name, "trainings", String(modelTakenBy)])}>training ${count(modelTakenBy)}</a>`],
      ["Cost", costOf(training)],
      ["Configuration", html`<a href=${link(["apprentice", name, "configuration"], { shown: configurationVersion })}>version ${count(configurationVersion)}</a>`],
      ["Began", html`<${Time} at=${createdAt} />`],
      ["By", html`<code>${createdBy}</code>`],
      ["Ended", endedAt && html`<${Time} at=${endedAt} />`],
    ].map(([title, value]) => [title, value || null])} />
  `;
}

// What is to host its model, and what that lacks.
function hostOf({ hosting, state }) {
  if (!hosting) return null;
  if (hosting.lacks.length === 0) return hosting.instanceType;
  const lacks = hosting.lacks.map(({ instanceType, lack }) => `${instanceType}: ${LACKS[lack] ?? words(lack)}`).join("; ");
  if (state !== "running" || !hosting.triedAgainAt) return lacks;
  return html`${lacks}; tried again <${Time} at=${hosting.triedAgainAt} relative />`;
}

// What jobs cost; what trains without one is not paid for by itself.
function costOf({ job, spentNanoUsd, reservedNanoUsd, billableSeconds }) {
  if (!job && spentNanoUsd === 0 && reservedNanoUsd === 0) return null;
  const set = reservedNanoUsd === 0 ? "" : `; ${nanoDollars(reservedNanoUsd)} are set aside`;
  return `${nanoDollars(spentNanoUsd)} for ${duration(billableSeconds * SECOND_MS)} that are billed${set}`;
}
