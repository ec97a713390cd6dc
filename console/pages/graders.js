// Graders: who scores, and how they are.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { html, useState } from "../preact.js";
import { go, link } from "../router.js";
import { Grader, OWNERS } from "./grader.js";
import { RegisterGrader } from "./grader-dialogs.js";

export const title = "Graders";

export default function Graders({ path, query, me }) {
  const [id] = path;
  return id ? html`<${Grader} key=${id} id=${id} query=${query} me=${me} />` : html`<${List} query=${query} me=${me} />`;
}

function List({ query, me }) {
  const { data, problem, again } = useApi("graders", { limit: 50, nextToken: query.token }, { every: 15 });
  const [isAsked, setAsked] = useState(false);
  const mayRegister = OWNERS.includes(me.role);
  const columns = [
    { name: "name", title: "Name", width: 13 },
    { name: "status", title: "Status", width: 7, cell: (grader) => html`<${Badge}>${grader.status}<//>` },
    { name: "since", title: "Since", width: 8, cell: (grader) => html`<${Time} at=${grader.statusChangedAt} relative />` },
    { name: "kind", title: "Kind", width: 6 },
    { name: "version", title: "Version", width: 8, cell: (grader) => grader.version ?? "–" },
    { name: "visibility", title: "For whom", width: 8, cell: (grader) => (grader.visibility === "public" ? "everybody" : "us") },
    { name: "id", title: "Id", width: 17, cell: (grader) => html`<code>${grader.id}</code>` },
  ];
  const actions = mayRegister && html`<button type="button" class="primary" onClick=${() => setAsked(true)}>New grader</button>`;
  return html`
    <${Page} title=${title} about="Endpoints, built-in graders, rubrics and people that score completions. The oldest first." actions=${actions}>
      <${Table} label="Graders" problem=${problem} again=${again} columns=${columns} rows=${data?.graders ?? null} href=${(grader) => link(["graders", grader.id])}
        empty=${html`
          <${Empty} title="No graders" command="autotune graders register --name NAME --endpoint https://grader.example.com">
            Register the endpoint that scores; Autotune calls it with signed requests, and nobody sees its inside.
          <//>`} />
      <${Pager} path=${["graders"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${RegisterGrader} onDone=${(grader) => go(["graders", grader.id])} onClose=${() => setAsked(false)} />`}
  `;
}
