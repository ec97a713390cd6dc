// Canceling a request, asking it again, reading its answer again, deleting its texts.

import { send, useAct } from "../../api.js";
import { Confirm, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { html, useState } from "../../preact.js";
import { go } from "../../router.js";

const ASKS = {
  cancel: { title: "Cancel the request?", yes: "Cancel it", words: "While it is queued it ends at once and costs nothing. What was sent is paid, and its answer is kept." },
  retry: { title: "Ask again?", yes: "Ask again", words: "It is enqueued once more, as a request of its own, and paid like any other. To ask twice makes no second one." },
  delete: { title: "Delete the texts?", yes: "Delete", words: "What was asked and answered goes; what it cost stays. This cannot be undone." },
};

/** Asks whether to cancel a request, to ask it again, or to delete its texts. */
export function Ask({ what, id, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const path = `llm-requests/${id}`;
  const yes = async () => {
    if (what === "delete") {
      if ((await act(() => send("DELETE", `${path}/content`))) !== undefined) onDone();
      return;
    }
    const answer = await act(() => send("POST", `${path}/${what}`));
    if (!answer) return;
    onDone();
    if (what === "retry") go(["ledger", "requests", answer.requestIds[0]]);
  };
  const { title, words: said, yes: label } = ASKS[what];
  return html`<${Confirm} title=${title} yes=${label} busy=${busy} problem=${problem} onYes=${yes} onClose=${onClose}>${said}<//>`;
}

const FORMATS = [["", "as it was asked for"], ["label", "one of some labels"], ["labels", "some of these labels"], ["number", "a number"], ["text", "a text"]];

/** Asks how to read the answer of a request. */
export function ReadAgain({ id, onDone, onClose }) {
  const [entered, setEntered] = useState({ type: "", labels: "" });
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const { type, labels } = entered;
  const hasLabels = type.startsWith("label");
  const read = async () => {
    const verdict = { type };
    if (hasLabels) verdict.labels = labels.split(",").map((label) => label.trim()).filter(Boolean);
    if (await act(() => send("POST", `llm-requests/${id}/parse`, type ? { verdict } : {}))) onDone();
  };
  return html`
    <${FormDialog} title="Read the answer again" submit="Read it" busy=${busy} problem=${problem} onSubmit=${read} onClose=${onClose}>
      <p class="hint">Its verdict is read by the parser of today. No model is asked, nothing is paid, and what was read before stays.</p>
      <${Field} label="As" name="verdict.type" value=${type} onInput=${enter("type")} options=${FORMATS} problem=${problem} />
      ${hasLabels && html`<${Field} label="Labels" name="verdict.labels" value=${labels} onInput=${enter("labels")} problem=${problem} required placeholder="good, poor" />`}
    <//>
  `;
}
