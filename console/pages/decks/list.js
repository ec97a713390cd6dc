// All decks.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Page } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { count, percent } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";

export function List({ query }) {
  const { data, problem, again } = useApi("decks", { limit: 50, nextToken: query.token });
  const columns = [
    { name: "name", title: "Name", width: 13 },
    { name: "status", title: "Status", width: 6.5, cell: (deck) => html`<${Badge}>${deck.status}<//>` },
    { name: "samples", title: "Samples", width: 6, numeric: true, cell: (deck) => count(deck.samples) },
    { name: "graders", title: "Graders", width: 6, numeric: true, cell: (deck) => count(deck.graders) },
    { name: "holdoutShare", title: "Held out", width: 6, numeric: true, cell: (deck) => percent(deck.holdoutShare) },
    { name: "version", title: "Version", width: 5.5, numeric: true, cell: (deck) => count(deck.version) },
    { name: "updatedAt", title: "Changed", width: 8, cell: (deck) => html`<${Time} at=${deck.updatedAt} relative />` },
    { name: "id", title: "Id", width: 17, cell: (deck) => html`<code>${deck.id}</code>` },
  ];
  return html`
    <${Page} title="Decks" about="A system prompt with its samples, and rubrics that grade them, measured against people. The oldest first."
      actions=${html`<a class="button" href=${link(["decks", "new"])}>New deck</a>`}>
      <${Table} label="Decks" problem=${problem} again=${again} columns=${columns} rows=${data?.decks ?? null} href=${(deck) => link(["decks", deck.id])}
        empty=${html`<${Empty} title="No decks" command="autotune decks create prompt.md">Make one of the system prompt that your model gets.<//>`} />
      <${Pager} path=${["decks"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}
