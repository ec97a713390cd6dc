// Batches: what came in one request.

import { useApi } from "../api.js";
import { Empty } from "../components/empty.js";
import { Entered } from "../components/entered.js";
import { Field } from "../components/field.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { html } from "../preact.js";
import { go } from "../router.js";
import { Batch } from "./batch.js";
import { BatchTable } from "./batch-table.js";

const LIVE_SECONDS = 10;
const STATES = [["", "any"], ["open", "open"], ["closed", "closed"]];

export const title = "Batches";

export default function Batches({ path, query, me }) {
  return path.length > 0
    ? html`<${Batch} key=${path[0]} id=${path[0]} query=${query} me=${me} />`
    : html`<${List} query=${query} me=${me} />`;
}

function List({ query, me }) {
  const asked = { state: query.state, taskId: query.task, nextToken: query.token, limit: 50 };
  const { data, problem, again, loading } = useApi("batches", asked, { every: query.token ? undefined : LIVE_SECONDS });
  const isNarrowed = Boolean(query.state || query.task || query.token);
  return html`
    <${Page} title=${title} about="What was submitted together, the youngest first. A single completion is a batch of one.">
      <${Filters} query=${query} problem=${problem} />
      <${BatchTable} label="Batches" data=${data} problem=${problem} again=${again} me=${me}
        empty=${!loading && html`
          <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : isNarrowed ? "Nothing that fits" : "No batches yet"}
            command=${isNarrowed ? undefined : "autotune submit completions.jsonl --task TASK_ID --model MODEL"}>
            ${data?.nextToken ? "There is more on the next page." : isNarrowed ? "Try fewer filters." : "Submit completions: how far they come shows here by itself."}
          <//>`} />
      <${Pager} path=${["batches"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Filters({ query, problem }) {
  const choose = (name) => (value) => {
    const { token, ...filters } = query;
    go(["batches"], { ...filters, [name]: value.trim() });
  };
  return html`
    <div class="filters" role="search">
      <${Field} label="State" name="state" value=${query.state ?? ""} onInput=${choose("state")} options=${STATES} problem=${problem} />
      <${Entered} label="Task" name="taskId" value=${query.task ?? ""} onEntered=${choose("task")} problem=${problem} placeholder="task_…" data-search />
    </div>
  `;
}
