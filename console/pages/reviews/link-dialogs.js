// Making and revoking a review link.

import { send, useAct } from "../../api.js";
import { Copy } from "../../components/copy.js";
import { Confirm, FormDialog, Once } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { time } from "../../format.js";
import { html, useState } from "../../preact.js";

const HOUR_SECONDS = 3_600;

/** Asks whom a link is for, to one review or to all that are open; shows it once. */
export function CreateLink({ reviewId, onDone, onClose }) {
  const [entered, setEntered] = useState({ reviewerId: "", hours: "8" });
  const [made, setMade] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const create = async () => {
    const body = { reviewerId: entered.reviewerId.trim(), expiresInSeconds: Math.round(Number(entered.hours) * HOUR_SECONDS) };
    if (reviewId) body.reviewId = reviewId;
    const answer = await act(() => send("POST", "review-links", body));
    if (answer) {
      setMade(answer);
      onDone();
    }
  };
  if (made) {
    return html`
      <${Once} title="The review link" onClose=${onClose}>
        <${Copy} text=${made.url} />
        <p class="hint">Whoever has it reviews as ${made.link.reviewerId} until ${time(made.link.expiresAt)}. Send it on a way that you trust.</p>
      <//>`;
  }
  return html`
    <${FormDialog} title=${reviewId ? "New link to this review" : "New link to all open reviews"} submit="Create" busy=${busy} problem=${problem} onSubmit=${create} onClose=${onClose}>
      <${Field} label="Reviewer" name="reviewerId" value=${entered.reviewerId} onInput=${enter("reviewerId")} problem=${problem} required hint="Whose answers it gives: a name that tells people apart" />
      <${Field} label="Hours" name="expiresInSeconds" value=${entered.hours} onInput=${enter("hours")} problem=${problem} required type="number" min="0" step="any" hint="How long it holds" />
    <//>
  `;
}

/** Asks whether to have a link open nothing any more. */
export function RevokeLink({ which, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const revoke = async () => {
    if (await act(() => send("DELETE", `review-links/${which.id}`))) onDone();
  };
  return html`
    <${Confirm} title=${`Revoke the link of ${which.reviewerId}?`} yes="Revoke" busy=${busy} problem=${problem} onYes=${revoke} onClose=${onClose}>
      It opens nothing any more, at once. What is on a page that is open with it stays there. This cannot be undone.
    <//>
  `;
}
