// Tasks: what is scored, and by which graders.

import { useApi } from "../api.js";
import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { count, duration } from "../format.js";
import { html, useState } from "../preact.js";
import { go, link } from "../router.js";
import { Comparison } from "./comparison.js";
import { Task } from "./task.js";
import { CreateTask } from "./task-dialogs.js";

export const title = "Tasks";

export default function Tasks({ path, query, me }) {
  const [id, view] = path;
  if (view === "compare") return html`<${Comparison} key=${id} id=${id} query=${query} />`;
  return id ? html`<${Task} key=${id} id=${id} query=${query} />` : html`<${List} query=${query} me=${me} />`;
}

function List({ query }) {
  const { data, problem, again } = useApi("tasks", { limit: 50, nextToken: query.token });
  const [isAsked, setAsked] = useState(false);
  const columns = [
    { name: "name", title: "Name", width: 15 },
    { name: "graders", title: "Graders", width: 6, numeric: true, cell: (task) => count(task.graders.length) },
    { name: "review", title: "Reviewed", width: 7, cell: (task) => (task.review ? "yes" : "no") },
    { name: "deadline", title: "Deadline", width: 7, cell: (task) => deadlineOf(task) },
    { name: "createdAt", title: "Made", width: 12, cell: (task) => html`<${Time} at=${task.createdAt} />` },
    { name: "id", title: "Id", width: 18, cell: (task) => html`<code>${task.id}</code>` },
  ];
  return html`
    <${Page} title=${title} about="What is to be scored, by which graders, and by when. The oldest first."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked(true)}>New task</button>`}>
      <${Table} label="Tasks" problem=${problem} again=${again} columns=${columns} rows=${data?.tasks ?? null} href=${(task) => link(["tasks", task.id])}
        empty=${html`
          <${Empty} title="No tasks" command="autotune tasks create --name NAME --grader GRADER_ID">
            A task names the graders of what is submitted to it. Register a <a href=${link(["graders"])}>grader</a> first.
          <//>`} />
      <${Pager} path=${["tasks"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${CreateTask} onDone=${(task) => go(["tasks", task.id])} onClose=${() => setAsked(false)} />`}
  `;
}

function deadlineOf({ deadlineSeconds }) {
  return deadlineSeconds === null ? "none" : duration(deadlineSeconds * 1_000);
}
