// Making a task.

import { send, useAct, useApi } from "../api.js";
import { Copy } from "../components/copy.js";
import { FormDialog } from "../components/dialog.js";
import { Field } from "../components/field.js";
import { html, useState } from "../preact.js";

/** Asks for the name and the grader of a task, and hands over what was made. */
export function CreateTask({ onDone, onClose }) {
  const graders = useApi("graders", { limit: 100 });
  const [entered, setEntered] = useState({ name: "", graderId: "", description: "", deadline: "" });
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const create = async () => {
    const body = { name: entered.name, graderId: entered.graderId, description: entered.description };
    if (entered.deadline) body.deadlineSeconds = Number(entered.deadline) * 60;
    const answer = await act(() => send("POST", "tasks", body));
    if (answer) onDone(answer.task);
  };
  const options = [["", "Choose a grader"], ...(graders.data?.graders ?? []).map((grader) => [grader.id, `${grader.name} (${grader.status})`])];
  return html`
    <${FormDialog} title="New task" submit="Create" busy=${busy} problem=${problem ?? graders.problem} onSubmit=${create} onClose=${onClose}>
      <${Field} label="Name" name="name" value=${entered.name} onInput=${enter("name")} problem=${problem} required />
      ${graders.data?.nextToken
        ? html`<${Field} label="Grader" name="graderId" value=${entered.graderId} onInput=${enter("graderId")} problem=${problem} required hint="Its id" />`
        : html`<${Field} label="Grader" name="graderId" value=${entered.graderId} onInput=${enter("graderId")} problem=${problem} required options=${options} />`}
      <${Field} label="Description" name="description" value=${entered.description} onInput=${enter("description")} problem=${problem} />
      <${Field} label="Minutes until the deadline" name="deadlineSeconds" value=${entered.deadline} onInput=${enter("deadline")} problem=${problem}
        inputmode="numeric" pattern="[0-9]{1,6}" hint="Empty: no deadline" />
      <p class="hint">With several graders, reviews or a quorum:</p>
      <${Copy} text="autotune tasks create --help" />
    <//>
  `;
}
