// Reward URLs: addresses at which trainers ask that send no headers.

import { send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Confirm, FormDialog, Once } from "../components/dialog.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Id } from "../components/id.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { html, useState } from "../preact.js";

const PATHS = ["openrlhf", "slime", "nemo-gym/verify", "azure", "eval-protocol/evaluate", "nova"];

export const title = "Reward URLs";

export default function RewardUrls({ query, me }) {
  const { data, problem, again } = useApi("reward-urls", { limit: 50, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const close = () => setAsked(null);
  const columns = [
    { name: "name", title: "Name", width: 13 },
    { name: "state", title: "State", width: 7, cell: (url) => html`<${Badge}>${url.state}<//>` },
    { name: "taskId", title: "Task", width: 18, cell: (url) => html`<${Id} id=${url.taskId} me=${me} />` },
    { name: "modelId", title: "Model", width: 13 },
    { name: "createdAt", title: "Made", width: 12, cell: (url) => html`<${Time} at=${url.createdAt} />` },
    { name: "expiresAt", title: "Expires", width: 12, cell: (url) => html`<${Time} at=${url.expiresAt} />` },
    { name: "actions", title: "", width: 7, cell: (url) => url.state === "active" && html`
        <button type="button" aria-label=${`Revoke ${url.name}`} onClick=${() => setAsked({ what: "revoke", url })}>Revoke</button>` },
  ];
  return html`
    <${Page} title=${title} about="What a trainer asks there is submitted to one task, and answered with its scores."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked({ what: "create" })}>New reward URL</button>`}>
      <${Table} label="Reward URLs" problem=${problem} again=${again} columns=${columns} rows=${data?.rewardUrls ?? null}
        empty=${html`
          <${Empty} title="No reward URLs" command="autotune reward-urls create --name trainer --task TASK_ID --model MODEL_ID">
            Make one for a trainer that can only call a URL: OpenRLHF, slime, NeMo Gym and others.
          <//>`} />
      <${Pager} path=${["reward-urls"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${asked?.what === "create" && html`<${Create} onDone=${again} onClose=${close} />`}
    ${asked?.what === "revoke" && html`<${Revoke} which=${asked.url} onClose=${close} onDone=${() => { close(); again(); }} />`}
  `;
}

function Create({ onDone, onClose }) {
  const tasks = useApi("tasks", { limit: 100 });
  const [entered, setEntered] = useState({ name: "", taskId: "", modelId: "" });
  const [made, setMade] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const create = async () => {
    const answer = await act(() => send("POST", "reward-urls", entered));
    if (answer) {
      setMade(answer.url);
      onDone();
    }
  };
  if (made) {
    return html`
      <${Once} title="The new reward URL" onClose=${onClose}>
        <${Copy} text=${made} />
        <p class="hint">Whoever knows it may ask. Below it are ${PATHS.map((path) => html`<code key=${path}>/${path}</code> `)}.</p>
      <//>`;
  }
  const options = [["", "Choose a task"], ...(tasks.data?.tasks ?? []).map((task) => [task.id, `${task.name} (${task.id})`])];
  return html`
    <${FormDialog} title="New reward URL" submit="Create" busy=${busy} problem=${problem ?? tasks.problem} onSubmit=${create} onClose=${onClose}>
      <${Field} label="Name" name="name" value=${entered.name} onInput=${enter("name")} problem=${problem} required />
      ${tasks.data?.nextToken
        ? html`<${Field} label="Task" name="taskId" value=${entered.taskId} onInput=${enter("taskId")} problem=${problem} required hint="Its id" />`
        : html`<${Field} label="Task" name="taskId" value=${entered.taskId} onInput=${enter("taskId")} problem=${problem} required options=${options} />`}
      <${Field} label="Model" name="modelId" value=${entered.modelId} onInput=${enter("modelId")} problem=${problem} required hint="As whose completions are scored" />
    <//>
  `;
}

function Revoke({ which, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const revoke = async () => {
    if (await act(() => send("DELETE", `reward-urls/${which.id}`))) onDone();
  };
  return html`
    <${Confirm} title=${`Revoke ${which.name}?`} yes="Revoke" busy=${busy} problem=${problem} onYes=${revoke} onClose=${onClose}>
      Trainers that ask there are refused at once. What was asked before is still scored. This cannot be undone.
    <//>
  `;
}
