// What became of a creation that nobody but a person can tell.

import { send, useAct } from "../../api.js";
import { Copy } from "../../components/copy.js";
import { Confirm, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { Facts, Section } from "../../components/page.js";
import { Time } from "../../components/time.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";

export function Resolve({ batch, mayChange, onDone }) {
  const [asked, setAsked] = useState(null);
  const { job } = batch;
  const close = () => setAsked(null);
  const candidates = job.candidates ?? [];
  const done = () => {
    close();
    onDone();
  };
  return html`
    <${Section} title="Was its job created?">
      <p class="notice">
        The answer to the creation was lost. ${candidates.length > 0
          ? "Of the provider’s jobs these may be it: look there which one has this name, time and number of requests."
          : "It is looked for by itself; look at the provider’s list of jobs, if that takes long."}
        ${" "}Until then nothing is asked again, and ${count(job.rows)} requests and their money are held.
      </p>
      <${Facts} facts=${[
        ["Our name of it", job.nonce && html`<${Copy} text=${job.nonce} />`],
        ["Its input file", job.inputFile && html`<${Copy} text=${job.inputFile} />`],
        ["Requests in it", count(job.rows)],
        ["Sent", html`<${Time} at=${batch.submittedAt ?? batch.createdAt} />`],
      ]} />
      ${candidates.length > 0 && html`
        <ul class="choices" aria-label="Jobs that may be it">
          ${candidates.map((candidate) => html`
            <li key=${candidate}>
              <${Copy} text=${candidate} />
              ${mayChange && html`<button type="button" aria-label=${`This is it: ${candidate}`} onClick=${() => setAsked({ jobId: candidate })}>This is it</button>`}
            </li>`)}
        </ul>`}
      ${mayChange
        ? html`
          <div class="page-actions">
            <button type="button" onClick=${() => setAsked({ isOther: true })}>${candidates.length > 0 ? "It is another job" : "I found the job"}</button>
            <button type="button" onClick=${() => setAsked({ isNone: true })}>There is none</button>
          </div>`
        : html`<p class="hint">Whoever may change connections says which: ask an admin of your organisation, or show them</p><${Copy} text=${`autotune llm resolve-batch ${batch.id} --adopt JOB`} />`}
    <//>
    ${asked?.jobId && html`<${Adopt} batch=${batch} jobId=${asked.jobId} onDone=${done} onClose=${close} />`}
    ${asked?.isOther && html`<${Other} batch=${batch} onDone=${done} onClose=${close} />`}
    ${asked?.isNone && html`<${Resubmit} batch=${batch} onDone=${done} onClose=${close} />`}
  `;
}

function useResolve(batch, onDone) {
  const { act, problem, busy } = useAct();
  const resolve = async (body) => {
    if (await act(() => send("POST", `llm-batches/${batch.id}/resolve`, body))) onDone();
  };
  return { resolve, problem, busy };
}

function Adopt({ batch, jobId, onDone, onClose }) {
  const { resolve, problem, busy } = useResolve(batch, onDone);
  return html`
    <${Confirm} title="Is this its job?" yes="Adopt it" busy=${busy} problem=${problem} onYes=${() => resolve({ action: "adopt", jobId })} onClose=${onClose}>
      <code>${jobId}</code> is looked at first: one of another model or number of requests is refused. Its answers are then those of this batch.
    <//>
  `;
}

function Other({ batch, onDone, onClose }) {
  const [jobId, setJobId] = useState("");
  const { resolve, problem, busy } = useResolve(batch, onDone);
  return html`
    <${FormDialog} title="Which job is it?" submit="Adopt it" busy=${busy} problem=${problem} onSubmit=${() => resolve({ action: "adopt", jobId: jobId.trim() })} onClose=${onClose}>
      <${Field} label="Job" name="jobId" value=${jobId} onInput=${setJobId} problem=${problem} required hint="As the provider names it; it is looked at first" />
    <//>
  `;
}

function Resubmit({ batch, onDone, onClose }) {
  const { resolve, problem, busy } = useResolve(batch, onDone);
  return html`
    <${Confirm} title="Create the job anew?" yes="There is none: create it" busy=${busy} problem=${problem} onYes=${() => resolve({ action: "resubmit" })} onClose=${onClose}>
      Only if the provider has no job of this batch. Where there is one after all, all its ${count(batch.job.rows)} requests are paid twice.
    <//>
  `;
}
