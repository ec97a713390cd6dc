// Sessions of the console: who has one, until when; revoking them.

import { send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Confirm } from "../components/dialog.js";
import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { words } from "../format.js";
import { html, useState } from "../preact.js";

export const title = "Sessions";

export default function Sessions({ query, me }) {
  const { data, problem, again } = useApi("sessions", { limit: 50, nextToken: query.token });
  const [revoked, setRevoked] = useState(null);
  const close = () => setRevoked(null);
  const isOver = ({ status }) => status === "revoked" || status === "expired";
  const columns = [
    { name: "principalId", title: "Principal", width: 18, cell: (session) => html`<code>${session.principalId}</code>` },
    { name: "name", title: "Name", width: 11, cell: (session) => (session.id === me.id ? html`${session.name} <${Badge} tone="good">this one<//>` : session.name) },
    { name: "status", title: "Status", width: 6.5, cell: (session) => html`<${Badge}>${session.status}<//>` },
    { name: "expiresAt", title: "Ends", width: 12, cell: (session) => html`<${Time} at=${session.expiresAt} />` },
    { name: "lastUsedAt", title: "Last used", width: 7.5, cell: (session) => html`<${Time} at=${session.lastUsedAt} relative />` },
    { name: "actions", title: "", width: 7, cell: (session) => !isOver(session) && html`
        <button type="button" aria-label=${`Revoke the session ${session.id}`} onClick=${() => setRevoked(session)}>Revoke</button>` },
    { name: "role", title: "Role", width: 10, cell: (session) => words(session.role) },
    { name: "createdAt", title: "Made", width: 12, cell: (session) => html`<${Time} at=${session.createdAt} />` },
    { name: "keyId", title: "Made by", width: 18, cell: (session) => (session.keyId ? html`<code>${session.keyId}</code>` : new URL(session.issuer).host) },
  ];
  return html`
    <${Page} title=${title} about="A session has the role of the key or the account that made it, lasts twelve hours at most, and ends with its key.">
      <${Table} label="Sessions" problem=${problem} again=${again} columns=${columns} rows=${data?.sessions ?? null}
        empty=${html`<${Empty} title="No sessions on this page" command="autotune console" />`} />
      <${Pager} path=${["sessions"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${revoked && html`<${Revoke} which=${revoked} isOwn=${revoked.id === me.id} onClose=${close} onDone=${() => { close(); again(); }} />`}
  `;
}

function Revoke({ which, isOwn, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const revoke = async () => {
    if (await act(() => send("DELETE", `sessions/${which.id}`))) onDone();
  };
  return html`
    <${Confirm} title="Revoke the session?" yes="Revoke" busy=${busy} problem=${problem} onYes=${revoke} onClose=${onClose}>
      ${isOwn ? "It is the one that you look at this page with. " : `It is ${which.principalId}’s. `}The browser that has it is signed out within half a minute.
    <//>
  `;
}
