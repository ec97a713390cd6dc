// One webhook with its deliveries, and one delivery with what was sent.

import { send, useAct, useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Dialog } from "../components/dialog.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Facts, Page, Section } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, words } from "../format.js";
import { html, useState } from "../preact.js";
import { go } from "../router.js";
import { ChangeWebhook, DeleteWebhook, RotateSecret } from "./webhook-dialogs.js";

const STATUSES = [["", "all"], ["pending", "pending"], ["delivered", "delivered"], ["failed", "failed"]];

/** The webhook of an id; its deliveries' status and cursor lie in the query. */
export function Webhook({ id, query }) {
  const { data, problem, again } = useApi(`webhooks/${id}`);
  const [asked, setAsked] = useState(null);
  const webhook = data?.webhook;
  const close = () => setAsked(null);
  const done = () => {
    close();
    again();
  };
  const actions = !webhook ? null : html`
    <button type="button" onClick=${() => setAsked("change")}>${webhook.status === "active" ? "Disable" : "Enable"}</button>
    <button type="button" onClick=${() => setAsked("rotate")}>New secret</button>
    <button type="button" onClick=${() => setAsked("delete")}>Delete</button>`;
  return html`
    <${Page} title=${webhook?.url ?? "Webhook"} about=${webhook?.description} actions=${actions}>
      <${Trouble} problem=${problem} again=${again} />
      ${webhook && html`
        <${Facts} facts=${[
          ["Id", html`<${Copy} text=${webhook.id} />`],
          ["Status", html`<${Badge}>${webhook.status}<//> ${words(webhook.disabledReason ?? "")}`],
          ["Events", webhook.eventTypes === "all" ? "all" : webhook.eventTypes.join(", ")],
          ["Failing since", webhook.failingSince && html`<${Time} at=${webhook.failingSince} />`],
          ["The old secret signs until", webhook.previousSecretUntil && html`<${Time} at=${webhook.previousSecretUntil} />`],
          ["Made", html`<${Time} at=${webhook.createdAt} />`],
        ]} />`}
      ${!(problem && !data) && html`<div hidden=${!webhook}><${Deliveries} id=${id} query=${query} /></div>`}
    <//>
    ${asked === "change" && html`<${ChangeWebhook} webhook=${webhook} onDone=${done} onClose=${close} />`}
    ${asked === "rotate" && html`<${RotateSecret} webhook=${webhook} onDone=${again} onClose=${close} />`}
    ${asked === "delete" && html`<${DeleteWebhook} webhook=${webhook} onDone=${() => go(["webhooks"])} onClose=${close} />`}
  `;
}

function Deliveries({ id, query }) {
  const asked = { status: query.status, nextToken: query.token, limit: 50 };
  const { data, problem, again } = useApi(`webhooks/${id}/deliveries`, asked, { every: query.token ? undefined : 10 });
  const [shown, setShown] = useState(null);
  const columns = [
    { name: "eventType", title: "Event", width: 14 },
    { name: "status", title: "Status", width: 8, cell: (delivery) => html`<${Badge}>${delivery.status}<//>` },
    { name: "occurredAt", title: "Happened", width: 12, cell: (delivery) => html`<${Time} at=${delivery.occurredAt} />` },
    { name: "attempts", title: "Attempts", width: 6, numeric: true, cell: (delivery) => count(delivery.attempts) },
    { name: "last", title: "Last answer", width: 13, cell: (delivery) => [delivery.lastStatus, words(delivery.lastError ?? "")].filter(Boolean).join(" ") || "–" },
    { name: "nextAttemptAt", title: "Next attempt", width: 9, cell: (delivery) => html`<${Time} at=${delivery.nextAttemptAt} relative />` },
    { name: "eventId", title: "Event id", width: 18, cell: (delivery) => html`<code>${delivery.eventId}</code>` },
    { name: "actions", title: "", width: 7, cell: (delivery) => html`
        <button type="button" data-row aria-label=${`Open ${delivery.eventId}`} onClick=${() => setShown(delivery.eventId)}>Open</button>` },
  ];
  const choose = (status) => go(["webhooks", id], { status });
  return html`
    <${Section} title="Deliveries">
      <div class="filters"><${Field} label="Status" name="status" value=${query.status ?? ""} onInput=${choose} options=${STATUSES} problem=${problem} /></div>
      <${Table} label="Deliveries" problem=${problem} again=${again} columns=${columns} rows=${data?.deliveries ?? null} id=${(delivery) => delivery.eventId}
        empty=${html`<${Empty} title="No such deliveries in the last 30 days" command=${`autotune webhooks deliveries ${id}`}>The next event comes by itself.<//>`} />
      <${Pager} path=${["webhooks", id]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${shown && html`<${Delivery} webhookId=${id} eventId=${shown} onDone=${again} onClose=${() => setShown(null)} />`}
  `;
}

function Delivery({ webhookId, eventId, onDone, onClose }) {
  const path = `webhooks/${webhookId}/deliveries/${eventId}`;
  const { data, problem, again } = useApi(path);
  const replaying = useAct();
  const delivery = data?.delivery;
  const replay = async () => {
    if (await replaying.act(() => send("POST", `${path}/replay`))) {
      again();
      onDone();
    }
  };
  return html`
    <${Dialog} title="Delivery" onClose=${onClose}>
      <div class="form">
        <${Trouble} problem=${replaying.problem ?? problem} again=${problem ? again : undefined} />
        ${delivery && html`
          <${Facts} facts=${[
            ["Event", delivery.eventType],
            ["Status", html`<${Badge}>${delivery.status}<//>`],
            ["Attempts", count(delivery.attempts)],
            ["Last attempt", delivery.lastAttemptAt && html`<${Time} at=${delivery.lastAttemptAt} />`],
            ["Last answer", [delivery.lastStatus, words(delivery.lastError ?? "")].filter(Boolean).join(" ")],
          ]} />
          <pre class="body" tabindex="0" aria-label="What is sent">${indented(delivery.body)}</pre>`}
        <div class="dialog-actions">
          <button type="button" class="primary" disabled=${!delivery || replaying.busy} onClick=${replay}>Send again</button>
          <button type="button" onClick=${onClose}>Close</button>
        </div>
      </div>
    <//>
  `;
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
