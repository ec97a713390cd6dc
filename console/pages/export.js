// One export: how far it is, what was asked for, and its files.

import { send, useAct, useApi } from "../api.js";
import { Copy } from "../components/copy.js";
import { Confirm } from "../components/dialog.js";
import { Id } from "../components/id.js";
import { Facts, Page, Section, Stat, Stats } from "../components/page.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, size, words } from "../format.js";
import { html, useState } from "../preact.js";
import { go } from "../router.js";

const WRITING_SECONDS = 2;
// Links to files hold 15 minutes, and what is shown here is to work when it is clicked.
const LINKS_SECONDS = 600;
const PAUSES = { pending: WRITING_SECONDS, running: WRITING_SECONDS, completed: LINKS_SECONDS };
const whileItChanges = (data) => PAUSES[data.export.state];
const STATE_TONES = { completed: "good", failed: "trouble" };
const FILTERS = { modelId: "Model", minScore: "Score from", maxScore: "Score to" };
const OPTIONS = ["preference", "unpaired", "stepwise", "llmRequests"];

/** The export of an id. */
export function Export({ id, me }) {
  const { data, problem, again } = useApi(`exports/${id}`, {}, { every: whileItChanges });
  const [isAsked, setAsked] = useState(false);
  const made = data?.export ?? null;
  const shown = (show) => (made === null ? null : show(made));
  const actions = made && made.state !== "canceled" ? html`<button type="button" onClick=${() => setAsked(true)}>Delete</button>` : null;
  const isUnderWay = made && PAUSES[made.state] === WRITING_SECONDS;
  return html`
    <${Page} title="Export" about=${html`<${Copy} text=${id} />`} actions=${actions}>
      <${Trouble} problem=${problem} again=${again} />
      ${!(problem && !made) && html`
        <${Stats}>
          <${Stat} label="State" value=${shown(({ state }) => state)} tone=${STATE_TONES[made?.state]} hint=${made?.errorCode && words(made.errorCode)} />
          <${Stat} label="Records written" value=${shown(({ progress }) => count(progress.recordsWritten))} hint=${isUnderWay ? "so far" : ""} />
          <${Stat} label="Verdicts looked at" value=${shown(({ progress }) => count(progress.scanned))} hint=${isUnderWay ? "so far" : ""} />
          <${Stat} label="Parts" value=${shown(({ progress }) => count(progress.parts))} />
        <//>`}
      ${made?.limit && html`
        <div class="trouble"><p class="trouble-title">It would be too large</p>
          <p>Limit: ${made.limit.name}, ${made.limit.maximum} ${made.limit.unit}. Narrower filters help.</p></div>`}
      ${made && html`<${About} made=${made} me=${me} />`}
      ${made?.downloads && html`<${Files} made=${made} />`}
    <//>
    ${isAsked && html`<${DeleteExport} made=${made} isUnderWay=${isUnderWay} onClose=${() => setAsked(false)} onDone=${() => go(["exports"])} />`}
  `;
}

function About({ made, me }) {
  const { request } = made;
  const { taskId, graderId, startDate, endDate } = request.filters;
  const options = Object.entries(OPTIONS.map((name) => request[name]).find(Boolean) ?? {});
  return html`
    <${Facts} facts=${[
      ["Records are", words(request.shape)],
      ["Format", request.format],
      ["Task", taskId ? html`<${Id} id=${taskId} me=${me} />` : request.shape === "llm_requests" ? null : "every task"],
      ["Grader", graderId && html`<${Id} id=${graderId} me=${me} />`],
      ...Object.entries(FILTERS).map(([name, label]) => [label, shownOption(request.filters[name])]),
      ["Decided from", startDate && html`<${Time} at=${startDate} />`],
      ["Decided before", html`<${Time} at=${endDate ?? made.asOf} />`],
      ...options.map(([name, value]) => [spaced(name), shownOption(value)]),
      ["Made", html`<${Time} at=${made.createdAt} />`],
      ["Completed", made.completedAt && html`<${Time} at=${made.completedAt} />`],
      ["Kept until", html`<${Time} at=${made.expiresAt} />`],
    ]} />`;
}

const shownOption = (value) => (value === null || value === undefined ? null : typeof value === "object" ? JSON.stringify(value) : words(value));
const spaced = (name) => name[0].toUpperCase() + name.slice(1).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function Files({ made }) {
  const { manifest, parts } = made.downloads;
  const columns = [
    { name: "name", title: "File", width: 14, cell: (file) => html`<a href=${file.url} target="_blank" rel="noreferrer noopener" download=${file.name} aria-label=${`Download ${file.name}`} data-row><code>${file.name}</code></a>` },
    { name: "records", title: "Records", width: 7, numeric: true, cell: (file) => count(file.records) },
    { name: "bytes", title: "Size", width: 7, numeric: true, cell: (file) => size(file.bytes) },
    { name: "sha256", title: "SHA-256", width: 34, cell: (file) => html`<code>${file.sha256}</code>` },
  ];
  return html`
    <${Section} title="Files to download">
      <${Table} label="Files" columns=${columns} rows=${[...parts, manifest]} id=${(file) => file.name} />
      <p class="note after">All of them at once, each checked: <${Copy} text=${`autotune exports download ${made.id} --out DIRECTORY`} /></p>
    <//>
  `;
}

function DeleteExport({ made, isUnderWay, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `exports/${made.id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete the export?" yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      ${isUnderWay ? "It stops, and what it has written goes." : "Its files go."} Verdicts and texts stay. This cannot be undone.
    <//>
  `;
}
