// One completion for a grader, and what becomes of it.

import { newIdempotencyKey, send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Dialog, FormDialog } from "../components/dialog.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Facts } from "../components/page.js";
import { Trouble } from "../components/trouble.js";
import { duration, score } from "../format.js";
import { html, useRef, useState } from "../preact.js";
import { link } from "../router.js";
import { notJson } from "./grader-dialogs.js";

/** Asks for a completion, submits it to a task of the grader, and shows the verdict when it is there. */
export function TryGrader({ grader, onClose }) {
  const tasks = useApi("tasks", { limit: 200 });
  const [entered, setEntered] = useState({ taskId: "", modelId: "tried-in-the-console", prompt: "", response: "", metadata: "" });
  const [submitted, setSubmitted] = useState(null);
  const [unread, setUnread] = useState(null);
  const { act, problem, busy } = useAct();
  const sent = useRef({ text: null, key: null });
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const own = tasks.data?.tasks.filter((task) => task.graders.some((one) => one.graderId === grader.id)) ?? null;
  const hasMore = Boolean(tasks.data?.nextToken);
  const taskId = hasMore ? entered.taskId.trim() : entered.taskId || own?.[0]?.id;

  const submit = async () => {
    setUnread(null);
    const body = { taskId, modelId: entered.modelId, prompt: entered.prompt, response: entered.response, priority: "high" };
    if (entered.metadata.trim()) {
      try {
        body.metadata = JSON.parse(entered.metadata);
      } catch {
        setUnread(notJson("metadata"));
        return;
      }
    }
    // The same again, after no answer came, is the same completion.
    const text = JSON.stringify(body);
    if (sent.current.text !== text) sent.current = { text, key: newIdempotencyKey() };
    const answer = await act(() => send("POST", "completions", body, { idempotencyKey: sent.current.key }));
    if (answer) setSubmitted(answer.completion);
  };

  if (submitted) return html`<${Verdict} completion=${submitted} onClose=${onClose} />`;
  if (own?.length === 0 && !hasMore) {
    return html`
      <${Dialog} title=${`Try ${grader.name}`} onClose=${onClose}>
        <div class="form">
          <${Empty} title="No task has this grader" command=${`autotune tasks create --name trial --grader ${grader.id}`}>A completion is submitted to a task: make one first.<//>
          <div class="dialog-actions"><button type="button" onClick=${onClose}>Close</button></div>
        </div>
      <//>`;
  }
  const told = unread ?? problem ?? tasks.problem;
  const options = own === null ? [["", "Loading"]] : own.map((task) => [task.id, task.name]);
  return html`
    <${FormDialog} title=${`Try ${grader.name}`} submit="Submit" busy=${busy || !taskId} problem=${told} onSubmit=${submit} onClose=${onClose}>
      ${hasMore
        ? html`<${Field} label="Task" name="taskId" value=${entered.taskId} onInput=${enter("taskId")} problem=${told} required hint="The id of one that names this grader" />`
        : html`<${Field} label="Task" name="taskId" value=${taskId ?? ""} onInput=${enter("taskId")} problem=${told} options=${options} hint="It is a completion of this task, and counts as one" />`}
      <${Field} label="Model" name="modelId" value=${entered.modelId} onInput=${enter("modelId")} problem=${told} required />
      <${Field} label="Prompt" name="prompt" rows=${3} value=${entered.prompt} onInput=${enter("prompt")} problem=${told} required />
      <${Field} label="Response" name="response" rows=${3} value=${entered.response} onInput=${enter("response")} problem=${told} required />
      <${Field} label="Metadata" name="metadata" rows=${2} value=${entered.metadata} onInput=${enter("metadata")} problem=${told} placeholder='{"answer": "42"}' hint="JSON, or nothing" />
    <//>
  `;
}

function Verdict({ completion, onClose }) {
  const [isDecided, setDecided] = useState(false);
  const { data, problem, again } = useApi(`completions/${completion.id}/score`, {}, { every: isDecided ? undefined : 2 });
  const verdict = data?.verdict;
  if (verdict && verdict.state !== "pending" && !isDecided) setDecided(true);
  const reason = verdict?.reasonCode ?? verdict?.lastReasonCode;
  return html`
    <${Dialog} title="What became of it" onClose=${onClose}>
      <div class="form">
        <${Trouble} problem=${problem} again=${again} />
        <div role="status">
          <${Facts} facts=${[
            ["State", html`<${Badge}>${verdict?.state ?? "pending"}<//>`],
            ["Score", verdict?.score && score(verdict.score.value)],
            ["Confidence", verdict?.score && score(verdict.score.confidence)],
            ["Reason", reason && html`<code>${reason}</code>`],
            ["Took", verdict?.decidedAt && duration(new Date(verdict.decidedAt) - new Date(verdict.submittedAt))],
            ["Version", verdict?.score?.graderVersion],
            ...(verdict?.score?.dimensions ?? []).map((one) => [one.name, score(one.value)]),
            ["Reasoning", verdict?.score?.reasoning],
          ]} />
        </div>
        <p><a href=${link(["completions", completion.id])}>Its whole way</a></p>
        <div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>Close</button></div>
      </div>
    <//>
  `;
}
