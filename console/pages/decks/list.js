// All decks.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Page } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { count, nanoDollars } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { agreementText } from "./measures.js";

export function List({ query }) {
  const { data, problem, again } = useApi("decks", { limit: 50, nextToken: query.token });
  const columns = [
    { name: "name", title: "Name", width: 13 },
    { name: "status", title: "Status", width: 6.5, cell: (deck) => html`<${Badge}>${deck.status}<//>` },
    { name: "samples", title: "Samples", width: 6, numeric: true, cell: (deck) => count(deck.samples) },
    { name: "graders", title: "Graders", width: 6, numeric: true, cell: (deck) => count(deck.graders) },
    { name: "labels", title: "Labels", width: 5.5, numeric: true, cell: ({ agreement }) => (agreement.length === 0 ? "–" : count(Math.max(...agreement.map(({ labels }) => labels)))) },
    { name: "agreement", title: "κ with people", width: 15, cell: ({ agreement }) => html`<${Agreement} found=${agreement} />` },
    { name: "spent", title: "Spent", width: 7, numeric: true, cell: (deck) => nanoDollars(deck.spentNanoUsd) },
    { name: "updatedAt", title: "Changed", width: 8, cell: (deck) => html`<${Time} at=${deck.updatedAt} relative />` },
    { name: "id", title: "Id", width: 17, cell: (deck) => html`<code>${deck.id}</code>` },
  ];
  return html`
    <${Page} title="Decks" about="A system prompt with its samples, and rubrics that grade them. The oldest first."
      actions=${html`<a class="button" href=${link(["decks", "unmatched"])}>Unmatched prompts</a><a class="button" href=${link(["decks", "new"])}>New deck</a>`}>
      <${Table} label="Decks" problem=${problem} again=${again} columns=${columns} rows=${data?.decks ?? null} href=${(deck) => link(["decks", deck.id])}
        empty=${html`<${Empty} title="No decks" command="autotune decks create prompt.md">Make one of the system prompt that your model gets.<//>`} />
      <${Pager} path=${["decks"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

// As it was last read; of several graders the one that agrees least comes first.
function Agreement({ found }) {
  if (found.length === 0) return html`<span class="nothing">not read yet</span>`;
  const [least] = found.toSorted((one, other) => (one.kappa ?? -2) - (other.kappa ?? -2));
  const more = found.length === 1 ? "" : ` and ${count(found.length - 1)} more`;
  return html`<span class="one-line">${agreementText(least)} <span class="why">${least.name}${more}</span></span>`;
}
