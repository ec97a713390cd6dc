// Canceling a batch, scoring again what failed in it, and deleting its texts.

import { newIdempotencyKey, send, useAct } from "../api.js";
import { Confirm, Dialog } from "../components/dialog.js";
import { count } from "../format.js";
import { html, useState } from "../preact.js";

/** Asks whether to cancel what is pending. */
export function CancelBatch({ batch, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const cancel = async () => {
    if (await act(() => send("POST", `batches/${batch.batchId}/cancel`))) onDone();
  };
  return html`
    <${Confirm} title="Cancel the batch?" yes="Cancel what is pending" busy=${busy} problem=${problem} onYes=${cancel} onClose=${onClose}>
      ${count(batch.counts.pending)} of its completions are without a verdict: they end canceled, and answers that come later are dropped. What is decided stays.
    <//>
  `;
}

/** Asks whether to score again what failed; says how much is. */
export function ScoreFailedAgain({ batch, onDone, onClose }) {
  const [key] = useState(newIdempotencyKey);
  const [done, setDone] = useState(null);
  const { act, problem, busy } = useAct();
  const again = async () => {
    const told = await act(() => rescored({ batchId: batch.batchId }, key));
    if (told) {
      setDone(told);
      onDone();
    }
  };
  if (done) return html`<${Rescored} done=${done} onClose=${onClose} />`;
  return html`
    <${Confirm} title="Score the failed again?" yes="Score again" busy=${busy} problem=${problem} onYes=${again} onClose=${onClose}>
      ${count(batch.counts.failed)} of its completions failed. Their graders are asked again, which may cost; the verdicts before stay readable.
    <//>
  `;
}

/** Score again what a request names, part after part; return how many are, and why others are not. */
export async function rescored(which, key) {
  const sum = { rescored: 0, skipped: {} };
  let nextToken;
  for (let part = 0; part === 0 || nextToken; part += 1) {
    const told = await send("POST", "completions/rescore", { ...which, ...(nextToken && { nextToken }) }, { idempotencyKey: `${key}-${part}` });
    sum.rescored += told.rescored;
    for (const [reason, number] of Object.entries(told.skipped)) sum.skipped[reason] = (sum.skipped[reason] ?? 0) + number;
    nextToken = told.nextToken;
  }
  return sum;
}

/** Says what became of a request to score again. */
export function Rescored({ done, onClose }) {
  const skipped = Object.entries(done.skipped).filter(([reason]) => reason in SKIPPED);
  return html`
    <${Dialog} title=${done.rescored > 0 ? "It is scored again" : "Nothing is scored again"} onClose=${onClose}>
      <div class="form">
        <p>${count(done.rescored)} ${done.rescored === 1 ? "completion is" : "completions are"} scored again.</p>
        ${skipped.length > 0 && html`<p>Left as they are: ${skipped.map(([reason, number]) => `${count(number)} ${SKIPPED[reason]}`).join(", ")}.</p>`}
        <div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>Close</button></div>
      </div>
    <//>
  `;
}

// But for those that nobody asked for.
const SKIPPED = {
  pending: "without a verdict yet",
  text_gone: "whose text is gone",
  too_many_generations: "scored again too often",
};

/** Asks whether to delete prompts and responses. */
export function DeleteTexts({ batch, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `batches/${batch.batchId}/content`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete the texts of the batch?" yes="Delete texts" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Prompts and responses go, and cannot be scored again. Verdicts stay; what has none ends canceled. This cannot be undone.
    <//>
  `;
}
