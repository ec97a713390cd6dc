// Which completions are looked at, and the way to what has a certain id.

import { viewOf } from "../components/id.js";
import { Field } from "../components/field.js";
import { html, useState } from "../preact.js";
import { go } from "../router.js";

const DECIDED = ["scored", "abstained", "failed", "canceled"];
const SCORES = { type: "number", min: "0", max: "1", step: "any" };

/** The filters of the list; `choices` are its tasks, null where an id is entered instead. */
export function Filters({ query, task, choices, hasTasks }) {
  const [entered, setEntered] = useState({
    id: "", task: null, grader: query.grader ?? "", model: query.model ?? "", state: query.state ?? "", min: query.min ?? "", max: query.max ?? "",
  });
  const chosen = entered.task ?? task; // the list has one before anybody chose
  const [isUnknown, setUnknown] = useState(false);
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const look = (event) => {
    event.preventDefault();
    const { id, ...filters } = entered;
    const view = id.trim() === "" ? null : viewOf(id.trim());
    setUnknown(id.trim() !== "" && view === null);
    if (view) go(view);
    else if (id.trim() === "") go(["completions"], { ...filters, task: hasTasks ? chosen : "" });
  };
  const fault = isUnknown ? { errors: [{ field: "id", expected: "an id such as cmp_…, bat_… or run_…" }] } : null;
  const states = [["", "any verdict"], ...[...DECIDED, ...(hasTasks ? ["pending"] : [])].map((state) => [state, state])];
  const isPending = entered.state === "pending";
  return html`
    <form class="filters many" onSubmit=${look} role="search">
      <${Field} label="Id" name="id" value=${entered.id} onInput=${enter("id")} problem=${fault} placeholder="cmp_…" data-search />
      ${hasTasks && html`<${Field} label="Task" name="taskId" value=${chosen} onInput=${enter("task")} options=${choices ?? undefined} placeholder="task_…" />`}
      ${query.grader && html`<${Field} label="Grader" name="graderId" value=${entered.grader} onInput=${enter("grader")} disabled=${isPending} />`}
      <${Field} label="State" name="state" value=${entered.state} onInput=${enter("state")} options=${states} />
      <${Field} label="Model" name="modelId" value=${entered.model} onInput=${enter("model")} disabled=${isPending} />
      <${Field} label="Score from" name="minScore" value=${entered.min} onInput=${enter("min")} disabled=${isPending} ...${SCORES} />
      <${Field} label="Score to" name="maxScore" value=${entered.max} onInput=${enter("max")} disabled=${isPending} ...${SCORES} />
      <button type="submit">Look</button>
    </form>
  `;
}
