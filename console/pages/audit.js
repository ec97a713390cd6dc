// The audit log: who called what, how it ended, what was decided, and what happened by itself.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Field } from "../components/field.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { count, words } from "../format.js";
import { html, useState } from "../preact.js";
import { go } from "../router.js";

const DAYS = [["1", "last day"], ["7", "last 7 days"], ["30", "last 30 days"], ["90", "last 90 days"]];
const HOUR_MS = 3_600_000;

export const title = "Audit";

export default function Audit({ query }) {
  const asked = { principalId: query.principal, action: query.action, from: since(query.days), nextToken: query.token, limit: 50 };
  const { data, problem, again, loading } = useApi("audit", asked);
  const columns = [
    { name: "time", title: "Time", width: 12, cell: (entry) => html`<${Time} at=${entry.time} />` },
    { name: "action", title: "Action", width: 13, cell: (entry) => words(entry.action) },
    { name: "who", title: "Principal", width: 18, cell: (entry) => (entry.principalId ? html`<code>${entry.principalId}</code>` : entry.kind === "call" ? "–" : "the service") },
    { name: "outcome", title: "Outcome", width: 14, cell: (entry) => outcome(entry) },
    { name: "what", title: "Of what", width: 35, cell: (entry) => html`<code>${subjects(entry).join(" ") || "–"}</code>` },
    { name: "from", title: "From", width: 9, cell: (entry) => entry.sourceAddress ?? "–" },
    { name: "request", title: "Request", width: 19, cell: (entry) => html`<code>${entry.requestId ?? "–"}</code>` },
  ];
  return html`
    <${Page} title=${title} about="Every call of the API and every decision, budgets that were short and small models that were promoted or raised an alarm: the newest first, of the last 90 days.">
      <${Filters} key=${JSON.stringify(query)} query=${query} problem=${problem} />
      <${Table} label="Audit entries" problem=${problem} again=${again} columns=${columns} rows=${data?.entries ?? null}
        empty=${!loading && html`
          <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : "Nothing that fits"} command="autotune audit --limit 20">
            ${data?.nextToken ? "There is more on the next page." : "Look at more days, or at fewer filters."}
          <//>`} />
      <${Pager} path=${["audit"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Filters({ query, problem }) {
  const [entered, setEntered] = useState({ principal: query.principal ?? "", action: query.action ?? "", days: query.days ?? "1" });
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const look = (event) => {
    event.preventDefault();
    go(["audit"], { ...entered, days: entered.days === "1" ? "" : entered.days });
  };
  return html`
    <form class="filters" onSubmit=${look} role="search">
      <${Field} label="Principal" name="principalId" value=${entered.principal} onInput=${enter("principal")} problem=${problem} data-search />
      <${Field} label="Action" name="action" value=${entered.action} onInput=${enter("action")} problem=${problem} placeholder="create_task" />
      <${Field} label="Time" name="from" value=${entered.days} onInput=${enter("days")} problem=${problem} options=${DAYS} />
      <button type="submit">Look</button>
    </form>
  `;
}

// To the hour, so that it is the same question until the hour is over.
function since(days) {
  if (!days) return undefined;
  const from = Date.now() - Number(days) * 24 * HOUR_MS;
  return new Date(Math.ceil(from / HOUR_MS) * HOUR_MS).toISOString();
}

function outcome(entry) {
  if (entry.kind === "decision") {
    const sums = entry.verdicts.map(({ state, completionIds }) => `${count(completionIds.length)} ${state}`);
    return sums.join(", ");
  }
  if (entry.kind === "event") return ["scope", "period", "kind", "version"].map((name) => entry.data[name]).filter((value) => value != null).join(" ");
  const tone = entry.status < 400 ? "good" : entry.status < 500 ? "warning" : "trouble";
  return html`<${Badge} tone=${tone}>${entry.status}<//> ${entry.code ? words(entry.code) : ""}`;
}

function subjects(entry) {
  if (entry.kind === "decision") return [entry.batchId, entry.graderId];
  if (entry.kind === "event") return [entry.data.taskId ?? entry.data.name ?? entry.eventId];
  return Object.values(entry.ids);
}
