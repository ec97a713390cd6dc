// Runs: what asks a grader about up to a hundred completions.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Entered } from "../components/entered.js";
import { Field } from "../components/field.js";
import { Id } from "../components/id.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { count, words } from "../format.js";
import { html } from "../preact.js";
import { go, link } from "../router.js";
import { Run } from "./run.js";
import { stepOf } from "./waiting.js";

const LIVE_SECONDS = 10;
const STATES = ["pending", "running", "sleeping", "waiting", "completed", "failed", "canceled"];
const STATE_CHOICES = [["", "any"], ...STATES.map((state) => [state, state])];

export const title = "Runs";

export default function Runs({ path, query, me }) {
  return path.length > 0 ? html`<${Run} key=${path[0]} id=${path[0]} me=${me} />` : html`<${List} query=${query} me=${me} />`;
}

function List({ query, me }) {
  const asked = { state: query.state, graderId: query.grader, nextToken: query.token, limit: 50 };
  const { data, problem, again, loading } = useApi("runs", asked, { every: query.token ? undefined : LIVE_SECONDS });
  const isNarrowed = Boolean(query.state || query.grader || query.token);
  const columns = [
    { name: "id", title: "Run", width: 18, cell: (run) => html`<code>${run.id}</code>` },
    { name: "state", title: "State", width: 7, cell: (run) => html`<${Badge}>${run.state}<//>` },
    { name: "step", title: "Step", width: 15.5, cell: (run) => stepOf(run.step) },
    { name: "sleepUntil", title: "Until", width: 7.5, cell: (run) => html`<${Time} at=${run.sleepUntil} relative />` },
    { name: "remaining", title: "Left", width: 6, numeric: true, cell: (run) => `${count(run.remaining)} / ${count(run.completions)}` },
    { name: "attempt", title: "Attempts", width: 6.5, numeric: true, cell: (run) => count(run.attempt) },
    { name: "reasonCode", title: "Last failed with", width: 11, cell: (run) => words(run.reasonCode ?? "–") },
    { name: "startedAt", title: "Began", width: 7.5, cell: (run) => html`<${Time} at=${run.startedAt} relative />` },
    { name: "graderId", title: "Grader", width: 18, cell: (run) => html`<${Id} id=${run.graderId} me=${me} />` },
  ];
  return html`
    <${Page} title=${title} about="A run asks one grader about up to 100 completions. They are listed for 30 days, state after state, the youngest first in each.">
      <${Filters} query=${query} problem=${problem} />
      <${Table} label="Runs" problem=${problem} again=${again} columns=${columns} rows=${data?.runs ?? null} href=${(run) => link(["runs", run.id])}
        empty=${!loading && html`
          <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : isNarrowed ? "Nothing that fits" : "No runs in the last 30 days"}
            command=${isNarrowed ? undefined : "autotune submit completions.jsonl --task TASK_ID --model MODEL"}>
            ${data?.nextToken ? "There is more on the next page." : isNarrowed ? "Try fewer filters." : "Submitted completions get theirs within seconds."}
          <//>`} />
      <${Pager} path=${["runs"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Filters({ query, problem }) {
  const choose = (name) => (value) => {
    const { token, ...filters } = query;
    go(["runs"], { ...filters, [name]: value.trim() });
  };
  return html`
    <div class="filters" role="search">
      <${Field} label="State" name="state" value=${query.state ?? ""} onInput=${choose("state")} options=${STATE_CHOICES} problem=${problem} />
      <${Entered} label="Grader" name="graderId" value=${query.grader ?? ""} onEntered=${choose("grader")} problem=${problem} placeholder="grd_…" data-search />
    </div>
  `;
}
