// Which graders wait for people's ratings, and how many samples each still has without one.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Page } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { count } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";

// Decks on a page; each of their graders is asked for its counts.
const DECKS = 10;

export function Offers({ query, mayAdjudicate }) {
  const { data, problem, again } = useApi("deck-inbox", { limit: DECKS, nextToken: query.token });
  const columns = [
    { name: "graderName", title: "Grader", width: 12 },
    { name: "deckName", title: "Deck", width: 12 },
    { name: "waiting", title: "Without a rating", width: 18, cell: (offer) => html`<${Waiting} offer=${offer} mayAdjudicate=${mayAdjudicate} />` },
    { name: "rate", title: "", width: 6, cell: ({ deckId, graderId, graderName }) => html`<a class="button" href=${link(["labelling", deckId, graderId])} aria-label=${`Rate for ${graderName}`}>Rate</a>` },
  ];
  return html`
    <${Page} title="Labelling" about="You say what level a sample has; only then you see what the judge said.">
      <${Table} label="Graders that wait for ratings" problem=${problem} again=${again} columns=${columns} rows=${data?.graders ?? null} id=${({ graderId }) => graderId}
        href=${({ deckId, graderId }) => link(["labelling", deckId, graderId])}
        empty=${html`<${Empty} title="Nothing waits for you">${data?.nextToken ? "There may be more on the next page." : mayAdjudicate ? html`People rate for the graders of a <a href="#/decks">deck</a>.` : "No deck has a grader that people rate for."}<//>`} />
      <${Pager} path=${["labelling"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function Waiting({ offer: { deckId, graderId }, mayAdjudicate }) {
  const { data, problem } = useApi(`decks/${deckId}/graders/${graderId}/feedback/progress`);
  if (problem) return html`<span class="why">${problem.title}</span>`;
  if (!data) return html`<span class="loading">${"\u00a0"}</span>`;
  const { holdout, development, toAdjudicate } = data.progress;
  const left = holdout.samples - holdout.rated + development.samples - development.rated;
  return html`<span class="one-line">${count(left)} of ${count(holdout.samples + development.samples)}${mayAdjudicate && toAdjudicate > 0 ? html`, <a href=${link(["labelling", deckId, graderId], { task: "adjudication" })}>${count(toAdjudicate)} to adjudicate</a>` : ""}</span>`;
}
