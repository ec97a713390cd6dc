// Making, changing and deleting a webhook.

import { send, useAct } from "../api.js";
import { Copy } from "../components/copy.js";
import { Confirm, FormDialog, Once } from "../components/dialog.js";
import { Field } from "../components/field.js";
import { html, useState } from "../preact.js";

/** Asks for an address; the secret that signs what is posted there is shown once. */
export function CreateWebhook({ onDone, onClose }) {
  const [entered, setEntered] = useState({ url: "", eventTypes: "", description: "" });
  const [secret, setSecret] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const create = async () => {
    const types = entered.eventTypes.split(/[\s,]+/).filter(Boolean);
    const body = { url: entered.url, description: entered.description, eventTypes: types.length > 0 ? types : "all" };
    const answer = await act(() => send("POST", "webhooks", body));
    if (answer) {
      setSecret(answer.secret);
      onDone();
    }
  };
  if (secret) return html`<${SecretShown} secret=${secret} onClose=${onClose} />`;
  return html`
    <${FormDialog} title="New webhook" submit="Create" busy=${busy} problem=${problem} onSubmit=${create} onClose=${onClose}>
      <${Field} label="URL" name="url" type="url" value=${entered.url} onInput=${enter("url")} problem=${problem} required hint="HTTPS, reachable from outside" />
      <${Field} label="Events" name="eventTypes" value=${entered.eventTypes} onInput=${enter("eventTypes")} problem=${problem}
        placeholder="score.completed, batch.completed" hint="Empty: all, those of later versions too" />
      <${Field} label="Description" name="description" value=${entered.description} onInput=${enter("description")} problem=${problem} />
    <//>
  `;
}

/** Asks whether to disable a webhook, or to take it up again. */
export function ChangeWebhook({ webhook, onDone, onClose }) {
  const isActive = webhook.status === "active";
  const { act, problem, busy } = useAct();
  const change = async () => {
    if (await act(() => send("PATCH", `webhooks/${webhook.id}`, { status: isActive ? "disabled" : "active" }))) onDone();
  };
  return html`
    <${Confirm} title=${isActive ? "Disable the webhook?" : "Enable the webhook?"} yes=${isActive ? "Disable" : "Enable"}
      busy=${busy} problem=${problem} onYes=${change} onClose=${onClose}>
      ${isActive ? "What is still to be sent there fails, and can be sent again later." : "Events from now on are sent there."}
    <//>
  `;
}

/** Asks whether to give a webhook a new secret; shows it once. */
export function RotateSecret({ webhook, onDone, onClose }) {
  const [secret, setSecret] = useState(null);
  const { act, problem, busy } = useAct();
  const rotate = async () => {
    const answer = await act(() => send("POST", `webhooks/${webhook.id}/rotate-secret`));
    if (answer) {
      setSecret(answer.secret);
      onDone();
    }
  };
  if (secret) return html`<${SecretShown} secret=${secret} onClose=${onClose} />`;
  return html`
    <${Confirm} title="Give it a new secret?" yes="New secret" busy=${busy} problem=${problem} onYes=${rotate} onClose=${onClose}>
      For 24 hours the secret before signs, too, so that nothing is refused meanwhile.
    <//>
  `;
}

/** Asks whether to delete a webhook. */
export function DeleteWebhook({ webhook, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `webhooks/${webhook.id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete the webhook?" yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Nothing is sent to ${webhook.url} any more, and its deliveries are no longer listed. This cannot be undone.
    <//>
  `;
}

function SecretShown({ secret, onClose }) {
  return html`
    <${Once} title="The webhook’s secret" onClose=${onClose}>
      <${Copy} text=${secret} />
      <p class="hint">It signs what is posted, as Standard Webhooks says: whoever receives it checks that.</p>
    <//>
  `;
}
