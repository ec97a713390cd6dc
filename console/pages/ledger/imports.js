// Imports: files of requests, and what became of their lines.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, words } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { LedgerPage } from "./frame.js";

const STATES = [["", "any"], ...["awaiting_upload", "running", "waiting", "completed", "failed", "canceled"].map((value) => [value, words(value)])];
const OPEN = ["awaiting_upload", "running", "waiting"];
const whileOpen = (data) => (OPEN.includes(data.import.state) ? 5 : undefined);

export function Imports({ query }) {
  const { data, problem, again } = useApi("llm-imports", { state: query.state, nextToken: query.token, limit: 50 }, { every: query.token ? undefined : 15 });
  const columns = [
    { name: "id", title: "Import", width: 16.5, cell: (one) => html`<code>${one.id}</code>` },
    { name: "state", title: "State", width: 13, cell: (one) => html`<${ImportStanding} one=${one} />` },
    { name: "purpose", title: "Purpose", width: 8 },
    { name: "enqueued", title: "Enqueued", width: 6.5, numeric: true, cell: (one) => count(one.counts.enqueued) },
    { name: "rejected", title: "Rejected", width: 6.5, numeric: true, cell: (one) => count(one.counts.rejected) },
    { name: "lines", title: "Lines read", width: 6.5, numeric: true, cell: (one) => count(one.counts.lines) },
    { name: "createdAt", title: "Made", width: 7.5, cell: (one) => html`<${Time} at=${one.createdAt} relative />` },
  ];
  return html`
    <${LedgerPage} open="Imports" about="Files of up to 200 MB, whose lines become requests. They are kept for 7 days.">
      <div class="filters">
        <${Field} label="State" name="state" value=${query.state ?? ""} onInput=${(state) => go(["ledger", "imports"], { state })} options=${STATES} problem=${problem} data-search />
      </div>
      <${Table} label="Imports" problem=${problem} again=${again} columns=${columns} rows=${data?.imports ?? null} href=${({ id }) => link(["ledger", "imports", id])}
        empty=${html`
          <${Empty} title=${query.state ? "No such imports" : "No imports"} command="autotune llm import requests.jsonl --format openai --connection CONNECTION_ID --purpose scoring">
            Import a file in the batch format of OpenAI, of Anthropic or of Autotune.
          <//>`} />
      <${Pager} path=${["ledger", "imports"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

export function Import({ id }) {
  const { data, problem, again } = useApi(`llm-imports/${id}`, {}, { every: whileOpen });
  const one = data?.import;
  return html`
    <${LedgerPage} open="Imports" title="Import" about=${html`<${Copy} text=${id} />`}
      actions=${problem && !data ? null : html`<a class="button" href=${link(["ledger", "requests"], { importId: id })}>Its requests</a>`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!one && !problem && html`<${FactsToCome} />`}
      ${one && html`
        <${Stats}>
          <${Stat} label="Lines read" value=${count(one.counts.lines)} />
          <${Stat} label="Enqueued" value=${count(one.counts.enqueued)} tone=${one.counts.enqueued ? "good" : undefined} />
          <${Stat} label="Rejected" value=${count(one.counts.rejected)} tone=${one.counts.rejected ? "trouble" : undefined} />
          <${Stat} label="Bytes read" value=${count(one.counts.bytes)} hint=${`of ${count(one.bytes)}`} />
        <//>
        <${Facts} facts=${[
          ["State", html`<${ImportStanding} one=${one} />`],
          ["Waits because", one.waitingBecause && words(one.waitingBecause)],
          ["Format", one.format],
          ["Purpose", one.purpose],
          ["Where a line is wrong", one.onError === "rejectAll" ? "nothing is enqueued" : "it is left out"],
          ["Connection", html`<a href=${link(["ledger", "connections", one.connectionId])}><code>${one.connectionId}</code></a>`],
          ["Made", html`<${Time} at=${one.createdAt} />`],
          ["Started", one.startedAt && html`<${Time} at=${one.startedAt} />`],
          ["Over", one.completedAt && html`<${Time} at=${one.completedAt} />`],
          ["Deleted", html`<${Time} at=${one.expiresAt} />`],
        ]} />
        <${Rejected} one=${one} />`}
    <//>
  `;
}

function Rejected({ one }) {
  const errors = one.errors ?? [];
  if (errors.length === 0) return null;
  const columns = [
    { name: "line", title: "Line", width: 5, cell: (error) => count(error.line) },
    { name: "customId", title: "Own id", width: 9, cell: (error) => (error.customId ? html`<code>${error.customId}</code>` : "–") },
    { name: "field", title: "Field", width: 12, cell: (error) => (error.field ? html`<code>${error.field}</code>` : "–") },
    { name: "message", title: "Why", width: 30 },
  ];
  const all = one.report && html`<a class="button" href=${one.report.url}>All as a file</a>`;
  return html`
    <${Section} title="Rejected lines" actions=${all}>
      <${Table} label="Lines that were rejected" columns=${columns} rows=${errors} id=${(error) => error.line} />
    <//>
  `;
}

function ImportStanding({ one }) {
  return html`<${Badge}>${one.state}<//>${one.errorCode ? html` <span class="why">${words(one.errorCode)}</span>` : ""}`;
}
