// Registering and verifying a grader, and giving it a new secret.

import { send, useAct } from "../api.js";
import { Badge } from "../components/badge.js";
import { Copy } from "../components/copy.js";
import { Confirm, Dialog, FormDialog, Once } from "../components/dialog.js";
import { Field } from "../components/field.js";
import { html, useState } from "../preact.js";

const KINDS = [["http", "an HTTP endpoint"], ["builtin", "built in, by a configuration"], ["human", "people"]];
const EXAMPLE = '{"type": "exact_match", "reference": "{{ item.answer }}"}';

/** Asks for a grader; the secret of an endpoint is shown once, and then handed over what was made. */
export function RegisterGrader({ onDone, onClose }) {
  const [entered, setEntered] = useState({ name: "", kind: "http", endpoint: "", builtin: EXAMPLE, batch: "", visibility: "private" });
  const [made, setMade] = useState(null);
  const [unread, setUnread] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const register = async () => {
    const body = { name: entered.name, kind: entered.kind, visibility: entered.visibility };
    setUnread(null);
    if (entered.kind === "http") {
      body.endpoint = entered.endpoint;
      if (entered.batch) body.capabilities = { maxBatchSize: Number(entered.batch) };
    }
    if (entered.kind === "builtin") {
      try {
        body.builtin = JSON.parse(entered.builtin);
      } catch {
        setUnread(notJson("builtin"));
        return;
      }
    }
    const answer = await act(() => send("POST", "graders", body));
    if (answer?.credentials) setMade(answer);
    else if (answer) onDone(answer.grader);
  };
  if (made) return html`<${Secret} secret=${made.credentials.sharedSecret} onClose=${() => onDone(made.grader)} />`;
  const told = unread ?? problem;
  return html`
    <${FormDialog} title="New grader" submit="Register" busy=${busy} problem=${told} onSubmit=${register} onClose=${onClose}>
      <${Field} label="Name" name="name" value=${entered.name} onInput=${enter("name")} problem=${told} required />
      <${Field} label="Kind" name="kind" value=${entered.kind} onInput=${enter("kind")} problem=${told} options=${KINDS} />
      ${entered.kind === "http" && html`
        <${Field} label="Endpoint" name="endpoint" type="url" value=${entered.endpoint} onInput=${enter("endpoint")} problem=${told} required hint="HTTPS; /score and /health lie below it" />
        <${Field} label="Most completions of one request" name="capabilities" value=${entered.batch} onInput=${enter("batch")} problem=${told}
          inputmode="numeric" pattern="[0-9]{1,3}" hint="Empty: one at a time" />`}
      ${entered.kind === "builtin" && html`
        <${Field} label="Configuration" name="builtin" rows=${5} value=${entered.builtin} onInput=${enter("builtin")} problem=${told} hint="JSON, as autotune graders register --builtin takes it" />`}
      <${Field} label="For whom" name="visibility" value=${entered.visibility} onInput=${enter("visibility")} problem=${told}
        options=${[["private", "our organisation"], ["public", "every organisation"]]} />
      <p class="hint">A language model as judge, limits and certificates:</p>
      <${Copy} text="autotune graders register --help" />
    <//>
  `;
}

/** Has the grader called, and shows what each check found. */
export function VerifyGrader({ grader, onDone, onClose }) {
  const [found, setFound] = useState(null);
  const { act, problem, busy } = useAct();
  const verify = async () => {
    const answer = await act(() => send("POST", `graders/${grader.id}/verify`));
    if (answer) {
      setFound(answer);
      onDone();
    }
  };
  if (!found) {
    return html`
      <${Confirm} title=${`Verify ${grader.name}?`} yes=${busy ? "Calling it" : "Verify"} busy=${busy} problem=${problem} onYes=${verify} onClose=${onClose}>
        Autotune calls it with requests that are signed well and badly. It becomes active only if every check passes.
      <//>`;
  }
  return html`
    <${Dialog} title=${found.verified ? "It is verified" : "It is not verified"} onClose=${onClose}>
      <div class="form">
        <ul class="checks">
          ${found.checks.map((check) => html`
            <li key=${check.name}><span>${check.name.replaceAll("_", " ")}</span> <${Badge} tone=${check.passed ? "good" : "trouble"}>${check.passed ? "passed" : (check.reasonCode ?? "failed")}<//></li>`)}
        </ul>
        ${found.checks.length === 0 && html`<p>Without an endpoint there is nothing to check.</p>`}
        <div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>Close</button></div>
      </div>
    <//>
  `;
}

/** Asks whether to give a grader a new secret; shows it once. */
export function RotateSecret({ grader, onDone, onClose }) {
  const [secret, setSecret] = useState(null);
  const { act, problem, busy } = useAct();
  const rotate = async () => {
    const answer = await act(() => send("POST", `graders/${grader.id}/rotate-secret`));
    if (answer) {
      setSecret(answer.credentials.sharedSecret);
      onDone();
    }
  };
  if (secret) return html`<${Secret} secret=${secret} onClose=${onClose} />`;
  return html`
    <${Confirm} title="Give it a new secret?" yes="New secret" busy=${busy} problem=${problem} onYes=${rotate} onClose=${onClose}>
      For 24 hours the secret before is valid, too, so that no answer is refused meanwhile.
    <//>
  `;
}

function Secret({ secret, onClose }) {
  return html`
    <${Once} title="The grader’s secret" onClose=${onClose}>
      <${Copy} text=${secret} />
      <p class="hint">Put it into the grader: it checks what Autotune asks, and signs what it answers.</p>
    <//>
  `;
}

/** What a field of JSON is told that is none, as the service would. */
export function notJson(field) {
  return { title: "This is not JSON", detail: "", errors: [{ field, expected: "valid JSON" }], limit: null, retryAfterSeconds: null, requestId: null };
}
