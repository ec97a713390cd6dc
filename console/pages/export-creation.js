// What an export is to have.

import { newIdempotencyKey, send, useAct, useApi } from "../api.js";
import { FormDialog } from "../components/dialog.js";
import { Field } from "../components/field.js";
import { html, useState } from "../preact.js";

const FORMATS = [["jsonl", "JSON lines, gzipped"], ["parquet", "Parquet"], ["tfrecord", "TFRecord"]];
const SHAPES = [
  ["scores", "scored responses"],
  ["preference", "preference pairs"],
  ["unpaired", "labelled responses"],
  ["stepwise", "labelled steps"],
];
const PAIRINGS = [["best_worst", "best and worst"], ["all_pairs", "each two"]];
const SHARE = { type: "number", min: "0", max: "1", step: "any" };

/** Asks what an export is to have, and starts it: `onDone` gets it. */
export function CreateExport({ onDone, onClose }) {
  const tasks = useApi("tasks", { limit: 200 });
  const [key, setKey] = useState(newIdempotencyKey);
  const [entered, setEntered] = useState({
    format: "jsonl", shape: "scores", taskId: "", modelId: "", minScore: "", maxScore: "", startDate: "", endDate: "",
    pairing: "best_worst", minScoreDelta: "", threshold: "0.5",
  });
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => {
    setKey(newIdempotencyKey()); // another export
    setEntered((old) => ({ ...old, [name]: value }));
  };
  const start = async () => {
    const answer = await act(() => send("POST", "exports", bodyOf(entered), { idempotencyKey: key }));
    if (answer) onDone(answer.export);
  };
  // The API names the fields of what is within; here they stand beside each other.
  const told = problem && { ...problem, errors: problem.errors.map((error) => ({ ...error, field: error.field.split(".").at(-1) })) };
  const field = (label, name, others) => html`
    <${Field} key=${name} label=${label} name=${name} value=${entered[name]} onInput=${enter(name)} problem=${told} ...${others} />`;
  const choices = [["", "every task"], ...(tasks.data?.tasks ?? []).map((task) => [task.id, task.name])];
  return html`
    <${FormDialog} title="New export" submit="Start" busy=${busy} problem=${problem ?? tasks.problem} onSubmit=${start} onClose=${onClose}>
      <div class="pairs">
        ${field("Records are", "shape", { options: SHAPES })}
        ${field("Format", "format", { options: FORMATS })}
        ${entered.shape === "preference" && field("Pairs", "pairing", { options: PAIRINGS, hint: "Of the responses to a prompt" })}
        ${entered.shape === "preference" && field("Their scores differ by", "minScoreDelta", { ...SHARE, hint: "At least; empty: any difference" })}
        ${["unpaired", "stepwise"].includes(entered.shape) && field("Good from a score of", "threshold", SHARE)}
        ${field("Task", "taskId", tasks.data?.nextToken ? { hint: "Its id; empty: every task" } : { options: choices })}
        ${field("Model", "modelId", { hint: "Empty: every model" })}
        ${field("Score from", "minScore", SHARE)}
        ${field("Score to", "maxScore", SHARE)}
        ${field("Decided from", "startDate", { type: "datetime-local" })}
        ${field("Decided before", "endDate", { type: "datetime-local" })}
      </div>
    <//>
  `;
}

function bodyOf(entered) {
  const number = (text) => (text === "" ? undefined : Number(text));
  const moment = (text) => (text === "" ? undefined : new Date(text).toISOString());
  const options = {
    preference: { pairing: entered.pairing, minScoreDelta: number(entered.minScoreDelta) },
    unpaired: { threshold: number(entered.threshold) },
    stepwise: { threshold: number(entered.threshold) },
  };
  // JSON leaves out what is undefined.
  return {
    format: entered.format,
    shape: entered.shape,
    filters: {
      taskId: entered.taskId || undefined,
      modelId: entered.modelId || undefined,
      minScore: number(entered.minScore),
      maxScore: number(entered.maxScore),
      startDate: moment(entered.startDate),
      endDate: moment(entered.endDate),
    },
    [entered.shape]: options[entered.shape],
  };
}
