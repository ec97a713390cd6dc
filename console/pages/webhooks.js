// Webhooks: where events are posted, and how that went.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { words } from "../format.js";
import { html, useState } from "../preact.js";
import { link } from "../router.js";
import { Webhook } from "./webhook.js";
import { CreateWebhook } from "./webhook-dialogs.js";

export const title = "Webhooks";

export default function Webhooks({ path, query }) {
  return path.length > 0 ? html`<${Webhook} key=${path[0]} id=${path[0]} query=${query} />` : html`<${List} />`;
}

function List() {
  const { data, problem, again } = useApi("webhooks", {}, { every: 30 });
  const [isAsked, setAsked] = useState(false);
  const columns = [
    { name: "url", title: "URL", width: 24 },
    { name: "status", title: "Status", width: 12, cell: (webhook) => html`<${Badge}>${webhook.status}<//> ${words(webhook.disabledReason ?? "")}` },
    { name: "eventTypes", title: "Events", width: 18, cell: (webhook) => webhook.eventTypes === "all" ? "all" : webhook.eventTypes.join(", ") },
    { name: "failingSince", title: "Failing since", width: 12, cell: (webhook) => html`<${Time} at=${webhook.failingSince} />` },
    { name: "createdAt", title: "Made", width: 12, cell: (webhook) => html`<${Time} at=${webhook.createdAt} />` },
    { name: "description", title: "Description", width: 14 },
  ];
  return html`
    <${Page} title=${title} about="Events are posted to these addresses, signed, and again until they are taken."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked(true)}>New webhook</button>`}>
      <${Table} label="Webhooks" problem=${problem} again=${again} columns=${columns} rows=${data?.webhooks ?? null} href=${(webhook) => link(["webhooks", webhook.id])}
        empty=${html`
          <${Empty} title="No webhooks" command="autotune webhooks create --url https://example.com/hook">
            Make one to hear of scores, batches, reviews and graders without asking.
          <//>`} />
    <//>
    ${isAsked && html`<${CreateWebhook} onDone=${again} onClose=${() => setAsked(false)} />`}
  `;
}
