// Scoring a completion again, canceling it, and deleting its text.

import { newIdempotencyKey, send, useAct } from "../api.js";
import { Confirm } from "../components/dialog.js";
import { html, useState } from "../preact.js";
import { rescored, Rescored } from "./batch-dialogs.js";

/** Asks whether to have another verdict in place of the one that there is. */
export function ScoreAgain({ verdict, onDone, onClose }) {
  const [key] = useState(newIdempotencyKey);
  const [done, setDone] = useState(null);
  const { act, problem, busy } = useAct();
  const again = async () => {
    const told = await act(() => rescored({ completionIds: [verdict.completionId] }, key));
    if (told && told.rescored === 0) setDone(told);
    else if (told) onDone();
  };
  if (done) return html`<${Rescored} done=${done} onClose=${onClose} />`;
  return html`
    <${Confirm} title="Score it again?" yes="Score again" busy=${busy} problem=${problem} onYes=${again} onClose=${onClose}>
      Its graders are asked again, which may cost. The verdict that it has, ${verdict.state}, stays readable.
    <//>
  `;
}

/** Asks whether to cancel a completion. */
export function CancelCompletion({ id, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const cancel = async () => {
    if (await act(() => send("POST", `completions/${id}/cancel`))) onDone();
  };
  return html`
    <${Confirm} title="Cancel the completion?" yes="Cancel it" busy=${busy} problem=${problem} onYes=${cancel} onClose=${onClose}>
      It ends canceled, and an answer that comes later is dropped.
    <//>
  `;
}

/** Asks whether to delete prompt and response. */
export function DeleteText({ id, isPending, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `completions/${id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete its text?" yes="Delete text" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Prompt, response and metadata go, so that it cannot be scored again. ${isPending ? "Without a verdict, it ends canceled." : "Its verdict stays."} This cannot be undone.
    <//>
  `;
}
