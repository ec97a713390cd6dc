// Completions: those of a task, what was decided last first.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Id } from "../components/id.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { duration, score, words } from "../format.js";
import { html } from "../preact.js";
import { link } from "../router.js";
import { BatchTable } from "./batch-table.js";
import { Completion } from "./completion.js";
import { Filters } from "./completion-filters.js";

const LIVE_SECONDS = 10;
const MOST_TASKS = 200;
const ALL_TASKS = "all";

export const title = "Completions";

export default function Completions({ path, query, me }) {
  return path.length > 0
    ? html`<${Completion} key=${path[0]} id=${path[0]} query=${query} me=${me} />`
    : html`<${List} query=${query} me=${me} />`;
}

function List({ query, me }) {
  // A grader's owner has no tasks: their graders' completions are those of others.
  const hasTasks = me.role !== "grader_owner";
  const tasks = useApi(hasTasks ? "tasks" : null, { limit: MOST_TASKS });
  const known = tasks.data?.tasks ?? [];
  const isWhole = tasks.data && !tasks.data.nextToken;
  const chosen = query.task ?? (!hasTasks ? ALL_TASKS : isWhole ? known.at(-1)?.id : undefined);
  const choices = tasks.data === null ? [[chosen ?? "", "…"]] : isWhole ? taskChoices(known, chosen) : null;
  const taskId = chosen === ALL_TASKS ? undefined : chosen;
  const lacksTask = tasks.data !== null && chosen === undefined;

  let shown = html`<${Table} label="Completions" columns=${columnsOf({ me, taskId })} rows=${null} />`;
  if (lacksTask && isWhole) shown = html`<${NoTasks} />`;
  else if (lacksTask) shown = html`<${Empty} title="Which task?">There are more than ${MOST_TASKS}: enter the id of one above.<//>`;
  else if (query.state === "pending" && !hasTasks) shown = html`<${Empty} title="What is pending is not listed for grader owners">Its batches are those of trainers.<//>`;
  else if (chosen && query.state === "pending") shown = html`<${Pending} taskId=${taskId} query=${query} me=${me} />`;
  else if (chosen) shown = html`<${Decided} taskId=${taskId} query=${query} me=${me} />`;
  return html`
    <${Page} title=${title} about=${aboutOf(query, taskId, chosen)}>
      <${Trouble} problem=${tasks.problem} again=${tasks.again} />
      <${Filters} key=${JSON.stringify(query)} query=${query} task=${chosen ?? ""} choices=${choices} hasTasks=${hasTasks} />
      ${shown}
    <//>
  `;
}

function aboutOf(query, taskId, chosen) {
  if (query.state === "pending") return "What has no verdict yet is listed by its batch, the youngest first.";
  if (chosen && taskId === undefined) return "Of every task, one task after the other, what was decided first at the top.";
  return "Of one task, what was decided last at the top.";
}

function taskChoices(known, chosen) {
  const told = known.map((task) => [task.id, task.name]).reverse();
  // One that was deleted has its completions still.
  if (chosen && chosen !== ALL_TASKS && !known.some(({ id }) => id === chosen)) told.unshift([chosen, chosen]);
  return [...told, [ALL_TASKS, "every task"]];
}

function columnsOf({ me, taskId }) {
  return [
    { name: "completionId", title: "Completion", width: 17, cell: (verdict) => html`<code>${verdict.completionId}</code>` },
    { name: "state", title: "State", width: 13.5, cell: (verdict) => html`<${Badge}>${verdict.state}<//> ${words(verdict.reasonCode ?? "")}` },
    { name: "score", title: "Score", width: 5, numeric: true, cell: (verdict) => score(verdict.score?.value) },
    { name: "decidedAt", title: "Decided", width: 7.5, cell: (verdict) => html`<${Time} at=${verdict.decidedAt} relative />` },
    { name: "latencyMs", title: "Took", width: 5.5, numeric: true, cell: (verdict) => duration(verdict.latencyMs) },
    { name: "modelId", title: "Model", width: 9.5, cell: (verdict) => verdict.modelId ?? "–" },
    { name: "decidedBy", title: "By", width: 5.5, cell: (verdict) => verdict.decidedBy ?? "–" },
    taskId === undefined
      ? { name: "taskId", title: "Task", width: 18, cell: (verdict) => html`<${Id} id=${verdict.taskId} me=${me} />` }
      : { name: "graderId", title: "Grader", width: 18, cell: (verdict) => html`<${Id} id=${verdict.graderId} me=${me} />` },
  ];
}

function Decided({ taskId, query, me }) {
  const asked = {
    taskId,
    order: taskId && "newest",
    modelId: query.model,
    graderId: query.grader,
    state: query.state,
    minScore: query.min,
    maxScore: query.max,
    nextToken: query.token,
    limit: 50,
  };
  const { data, problem, again, loading } = useApi("scores", asked, { every: query.token ? undefined : LIVE_SECONDS });
  const { task, token, ...narrowed } = query;
  const isNarrowed = Object.keys(narrowed).length > 0;
  const command = taskId && !isNarrowed ? `autotune submit completions.jsonl --task ${taskId} --model MODEL` : "autotune batches list --state open";
  return html`
    <${Table} label="Completions" problem=${problem} again=${again} columns=${columnsOf({ me, taskId })} rows=${data?.scores ?? null}
      id=${(verdict) => `${verdict.completionId} ${verdict.generation ?? 0}`} href=${(verdict) => link(["completions", verdict.completionId])}
      empty=${!loading && html`
        <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : isNarrowed ? "Nothing that fits" : "Nothing decided yet"} command=${data?.nextToken ? undefined : command}>
          ${data?.nextToken ? "There is more on the next page." : isNarrowed ? "Try fewer filters. What is not decided yet is in its batch." : "Submit some: their verdicts show here by themselves."}
        <//>`} />
    <${Pager} path=${["completions"]} query=${query} nextToken=${data?.nextToken} />
  `;
}

// What has no verdict is listed by its batch.
function Pending({ taskId, query, me }) {
  const { data, problem, again, loading } = useApi("batches", { state: "open", taskId, nextToken: query.token, limit: 50 }, { every: query.token ? undefined : LIVE_SECONDS });
  return html`
    <${BatchTable} label="Batches with pending completions" data=${data} problem=${problem} again=${again} me=${me} query=${{ state: "pending" }}
      empty=${!loading && html`
        <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : "Nothing is pending"}>
          ${data?.nextToken ? "There is more on the next page." : "Every completion has its verdict."}
        <//>`} />
    <${Pager} path=${["completions"]} query=${query} nextToken=${data?.nextToken} />
  `;
}

function NoTasks() {
  return html`
    <${Empty} title="No completions yet" command="autotune tasks create --name NAME --grader GRADER_ID">
      Completions are submitted to a task, which says what scores them. Create one first.
    <//>
  `;
}
