// The samples of a deck, newest first.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Entered } from "../../components/entered.js";
import { Field } from "../../components/field.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { DeckPage } from "./frame.js";
import { AddSamples } from "./sample-dialogs.js";

const SPLITS = [["", "both halves"], ["development", "development"], ["holdout", "held out"]];

export function Samples({ deckId, query }) {
  const path = ["decks", deckId, "samples"];
  const { split = "", model = "" } = query;
  const { data, problem, again } = useApi(`decks/${deckId}/samples`, { split, model, limit: 50, nextToken: query.token });
  const [isAsked, setAsked] = useState(false);
  const filter = (changes) => go(path, { split, model, ...changes }, { replace: true });
  const columns = [
    { name: "inputExcerpt", title: "Asked", width: 15, cell: ({ inputExcerpt }) => html`<span class="excerpt">${inputExcerpt || "(empty)"}</span>` },
    { name: "outputExcerpt", title: "Answered", width: 15, cell: ({ outputExcerpt }) => html`<span class="excerpt">${outputExcerpt}</span>` },
    { name: "split", title: "Half", width: 8, cell: (sample) => html`<${Badge} tone=${sample.split === "holdout" ? "warning" : "plain"}>${sample.split === "holdout" ? "held out" : sample.split}<//>` },
    { name: "model", title: "Model", width: 8, cell: (sample) => sample.model ?? html`<span class="nothing">–</span>` },
    { name: "characters", title: "Characters", width: 6.5, numeric: true, cell: (sample) => count(sample.outputCharacters) },
    { name: "version", title: "Prompt", width: 5, numeric: true, cell: (sample) => count(sample.deckVersion) },
    { name: "duplicate", title: "Same as", width: 8, cell: (sample) => (sample.duplicateOf ? html`<a href=${link([...path, sample.duplicateOf])}>an earlier one</a>` : html`<span class="nothing">–</span>`) },
    { name: "createdAt", title: "Came", width: 7, cell: (sample) => html`<${Time} at=${sample.createdAt} relative />` },
  ];
  const isFiltered = split !== "" || model !== "" || query.token;
  return html`
    <${DeckPage} deckId=${deckId} open="Samples" title="Samples" about="What a model was asked, and what it answered. The newest first."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked(true)}>Add samples</button>`}>
      <div class="filters">
        <${Field} label="Half" name="split" value=${split} onInput=${(value) => filter({ split: value })} options=${SPLITS} problem=${problem} />
        <${Entered} label="Model" name="model" value=${model} onEntered=${(value) => filter({ model: value.trim() })} problem=${problem} placeholder="all" data-search />
      </div>
      <${Table} label="Samples" problem=${problem} again=${again} columns=${columns} rows=${data?.samples ?? null} href=${({ id }) => link([...path, id])} skeletons=${8}
        empty=${isFiltered
          ? html`<${Empty} title="Nothing on this page">${data?.nextToken ? "There may be more on the next page." : "No sample of this deck is like that."}<//>`
          : html`<${Empty} title="No samples" command=${`autotune decks samples add ${deckId} samples.jsonl`}>Add what a model answered to the prompt.<//>`} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${AddSamples} deckId=${deckId} onDone=${again} onClose=${() => setAsked(false)} />`}
  `;
}
