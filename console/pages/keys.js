// API keys: who may what, until when; making, naming and revoking them.

import { send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Confirm, FormDialog, Once } from "../components/dialog.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { words } from "../format.js";
import { html, useState } from "../preact.js";

const ROLES = ["training_operator", "grader_owner", "reviewer", "admin"].map((role) => [role, words(role)]);

export const title = "Keys";

export default function Keys({ query, me }) {
  const { data, problem, again } = useApi("keys", { limit: 50, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const close = () => setAsked(null);
  const done = () => {
    close();
    again();
  };
  const columns = [
    { name: "name", title: "Name", width: 13 },
    { name: "role", title: "Role", width: 9.5, cell: (key) => words(key.role) },
    { name: "status", title: "Status", width: 6.5, cell: (key) => html`<${Badge}>${key.status}<//>` },
    { name: "lastUsedAt", title: "Last used", width: 7.5, cell: (key) => html`<${Time} at=${key.lastUsedAt} relative />` },
    { name: "expiresAt", title: "Expires", width: 12, cell: (key) => html`<${Time} at=${key.expiresAt} />` },
    { name: "actions", title: "", width: 12, cell: (key) => html`
        <span class="row-actions">
          <button type="button" aria-label=${`Rename ${key.name}`} onClick=${() => setAsked({ what: "rename", key })}>Rename</button>
          ${key.status === "active" && html`<button type="button" aria-label=${`Revoke ${key.name}`} onClick=${() => setAsked({ what: "revoke", key })}>Revoke</button>`}
        </span>` },
    { name: "principalId", title: "Principal", width: 13, cell: (key) => (key.principalId === key.id ? "itself" : key.principalId) },
    { name: "id", title: "Id", width: 18, cell: (key) => html`<code>${key.id}</code>` },
  ];
  return html`
    <${Page} title=${title} about="Each program and person signs with a key of its own."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked({ what: "create" })}>New key</button>`}>
      <${Table} label="Keys" problem=${problem} again=${again} columns=${columns} rows=${data?.keys ?? null}
        empty=${html`<${Empty} title="No keys on this page" command="autotune keys create --name NAME --role training_operator" />`} />
      <${Pager} path=${["keys"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${asked?.what === "create" && html`<${Create} onDone=${again} onClose=${close} />`}
    ${asked?.what === "rename" && html`<${Rename} which=${asked.key} onDone=${done} onClose=${close} />`}
    ${asked?.what === "revoke" && html`<${Revoke} which=${asked.key} isOwn=${asked.key.id === me.keyId} onDone=${done} onClose=${close} />`}
  `;
}

function Create({ onDone, onClose }) {
  const [entered, setEntered] = useState({ name: "", role: ROLES[0][0], principalId: "", days: "" });
  const [made, setMade] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const create = async () => {
    const body = { name: entered.name, role: entered.role };
    if (entered.principalId) body.principalId = entered.principalId;
    if (entered.days) body.expiresAt = new Date(Date.now() + Number(entered.days) * 86_400_000).toISOString();
    const answer = await act(() => send("POST", "keys", body));
    if (answer) {
      setMade(answer.apiKey);
      onDone();
    }
  };
  if (made) {
    return html`
      <${Once} title="The new key" onClose=${onClose}>
        <${Copy} text=${made} />
        <p class="hint">Give it to the program or person that signs with it, on a way that you trust.</p>
      <//>`;
  }
  return html`
    <${FormDialog} title="New key" submit="Create" busy=${busy} problem=${problem} onSubmit=${create} onClose=${onClose}>
      <${Field} label="Name" name="name" value=${entered.name} onInput=${enter("name")} problem=${problem} required />
      <${Field} label="Role" name="role" value=${entered.role} onInput=${enter("role")} problem=${problem} options=${ROLES} />
      <${Field} label="Principal" name="principalId" value=${entered.principalId} onInput=${enter("principalId")} problem=${problem}
        hint="Keys of one principal own the same things; empty: the key stands for itself" />
      <${Field} label="Days until it expires" name="expiresAt" value=${entered.days} onInput=${enter("days")} problem=${problem}
        inputmode="numeric" pattern="[0-9]{1,4}" hint="Empty: until it is revoked" />
    <//>
  `;
}

function Rename({ which, onDone, onClose }) {
  const [name, setName] = useState(which.name);
  const { act, problem, busy } = useAct();
  const rename = async () => {
    if (await act(() => send("PATCH", `keys/${which.id}`, { name }))) onDone();
  };
  return html`
    <${FormDialog} title="Rename the key" submit="Rename" busy=${busy} problem=${problem} onSubmit=${rename} onClose=${onClose}>
      <${Field} label="Name" name="name" value=${name} onInput=${setName} problem=${problem} required />
    <//>
  `;
}

function Revoke({ which, isOwn, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const revoke = async () => {
    if (await act(() => send("DELETE", `keys/${which.id}`))) onDone();
  };
  return html`
    <${Confirm} title=${`Revoke ${which.name}?`} yes="Revoke" busy=${busy} problem=${problem} onYes=${revoke} onClose=${onClose}>
      ${isOwn ? "It made this session, which ends with it. " : ""}Nothing can be signed with it any more. This cannot be undone.
    <//>
  `;
}
