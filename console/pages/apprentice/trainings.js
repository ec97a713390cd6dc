// Trainings of a task's small model, the youngest first, and how to begin one.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { FactsToCome } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, percent } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { TaskPage } from "./frame.js";
import { Training } from "./training.js";
import { TRAINED, whatCame } from "./training-words.js";

const LIVE_SECONDS = 5;
const REASON = "why-not-trained";
const ABOUT = "A model learns from the task's examples, and is judged on some that it never sees. One that shows enough becomes a version, in shadow.";
const whileOneRuns = ({ trainings }) => (trainings.some(({ state }) => state === "running") ? LIVE_SECONDS : undefined);

/** The trainings of a task, or with an `id` one of them. */
export function Trainings({ name, id, query }) {
  return id ? html`<${Training} key=${id} name=${name} id=${id} />` : html`<${List} name=${name} query=${query} />`;
}

function List({ name, query }) {
  const of = `apprentice/tasks/${encodeURIComponent(name)}`;
  const path = ["apprentice", name, "trainings"];
  const task = useApi(of);
  const status = useApi(`${of}/status`);
  const { data, problem, again } = useApi(`${of}/trainings`, { limit: 20, nextToken: query.token }, { every: whileOneRuns });
  const [isAsked, setAsked] = useState(false);
  const isThere = task.data !== null && status.data !== null && data !== null;
  const unknown = task.problem ?? status.problem;
  const reason = isThere ? whyNot(task.data.task, data.trainings) : null;
  const isTrained = task.data?.task.configuration.training != null;
  const columns = [
    { name: "number", title: "Training", width: 5.5, cell: ({ number }) => count(number) },
    { name: "state", title: "State", width: 6.5, cell: ({ state }) => html`<${Badge} tone=${TRAINED[state]}>${state}<//>` },
    { name: "train", title: "Examples", width: 6, numeric: true, cell: (one) => count(one.data?.train) },
    { name: "holdout", title: "Held out", width: 5.5, numeric: true, cell: (one) => count(one.data?.holdout) },
    { name: "mean", title: "Agrees", width: 5.5, numeric: true, cell: ({ test }) => percent(test?.mean) },
    { name: "bound", title: "At least", width: 6, numeric: true, cell: ({ test }) => percent(test?.bound) },
    { name: "evidence", title: "Evidence", width: 6.5, numeric: true, cell: ({ test }) => evidence(test) },
    { name: "came", title: "What came of it", width: 15, cell: (one) => (one.version === null ? whatCame(one) : html`<a href=${link(["apprentice", name, "versions", String(one.version)])}>version ${count(one.version)}</a>`) },
    { name: "cost", title: "Cost", width: 6.5, numeric: true, cell: ({ spentNanoUsd, reservedNanoUsd }) => nanoDollars(spentNanoUsd + reservedNanoUsd || null) },
    { name: "createdAt", title: "Began", width: 6.5, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
  ];
  return html`
    <${TaskPage} name=${name} open="Trainings" about=${ABOUT}
      actions=${isThere ? html`<button type="button" class="primary" disabled=${reason !== null} aria-describedby=${reason === null ? undefined : REASON} onClick=${() => setAsked(true)}>Train now</button>` : null}>
      <${Trouble} problem=${unknown} again=${task.problem ? task.again : status.again} />
      ${problem && html`<${Trouble} problem=${problem} again=${again} />`}
      ${!isThere && !unknown && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        ${reason !== null && html`<p class="note" id=${REASON}>${reason}</p>`}
        ${isTrained && html`<p class="note">${nextOne(status.data.status)}</p>`}
        <${Table} label="Trainings" columns=${columns} rows=${data.trainings} id=${({ number }) => number} href=${({ number }) => link([...path, String(number)])}
          empty=${html`
            <${Empty} title="No trainings" command=${isTrained ? `autotune apprentice train ${name}` : `autotune apprentice versions register ${name} MODEL`}>
              ${isTrained ? "Each shows what it learned from, how it was judged, and what came of it." : "Models that the task's server has become versions once they are registered."}
            <//>`} />
        <${Pager} path=${path} query=${query} nextToken=${data.nextToken} />`}
      ${isAsked && html`<${TrainNow} name=${name} onClose=${() => setAsked(false)} onDone=${({ number }) => go([...path, String(number)])} />`}
    <//>
  `;
}

// When one begins by itself.
function nextOne({ examples, nextTraining }) {
  if (!nextTraining) return `There are ${count(examples)} examples; none begins by itself.`;
  const since = nextTraining.cause === "emergency" ? ", since a version raised an emergency" : "";
  const waits = nextTraining.waits ? ` It waits: ${nextTraining.waits.message}.` : "";
  return `The next one begins by itself at ${count(nextTraining.examplesNeeded)} examples${since}; there are ${count(examples)}.${waits}`;
}

function evidence(test) {
  return test ? `${count(test.evidence)} / ${count(test.evidenceNeeded)}` : count(null);
}

// What the page knows; the rest is for the API to say.
function whyNot({ configuration: { training, local } }, trainings) {
  if (training === null || training === undefined) return `Nothing is trained: the configuration has no training, and ${local.backend} serves models that are registered.`;
  const running = trainings.find(({ state }) => state === "running");
  if (running) return `Training ${count(running.number)} is under way; a task has one at a time.`;
  return null;
}

function TrainNow({ name, onClose, onDone }) {
  const { act, problem, busy } = useAct();
  const train = async () => {
    const answer = await act(() => send("POST", `apprentice/tasks/${encodeURIComponent(name)}/trainings`));
    if (answer) onDone(answer.training);
  };
  return html`
    <${Confirm} title="Train now?" yes="Train" busy=${busy} problem=${problem} onYes=${train} onClose=${onClose}>
      It learns from the examples that there are now. Each model that is judged has to show more than the one before.
    <//>
  `;
}
