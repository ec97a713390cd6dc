// The runs of a deck, newest first.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Pager } from "../../components/pager.js";
import { Shares } from "../../components/shares.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { count, nanoDollars } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { DeckPage } from "./frame.js";
import { StartRun } from "./run-dialogs.js";

export function Runs({ deckId, query }) {
  const path = ["decks", deckId, "runs"];
  const { data, problem, again } = useApi(`decks/${deckId}/runs`, { limit: 50, nextToken: query.token }, { every: query.token ? undefined : 15 });
  const [isAsked, setAsked] = useState(false);
  const columns = [
    { name: "id", title: "Run", width: 16.5, cell: (run) => html`<code>${run.id}</code>` },
    { name: "status", title: "Status", width: 7, cell: (run) => html`<${Badge}>${run.status}<//>` },
    { name: "kind", title: "Kind", width: 6, cell: (run) => (run.repeat ? "again" : run.kind) },
    { name: "graders", title: "Graders", width: 5.5, numeric: true, cell: (run) => count(run.graders.length) },
    { name: "samples", title: "Samples", width: 5.5, numeric: true, cell: (run) => count(run.samples) },
    { name: "counts", title: "Results", width: 8, cell: (run) => html`<${Shares} small label="Results" counts=${run.counts} />` },
    { name: "cost", title: "Cost", width: 7, numeric: true, cell: (run) => nanoDollars(run.costNanoUsd) },
    { name: "createdAt", title: "Started", width: 7, cell: (run) => html`<${Time} at=${run.createdAt} relative />` },
  ];
  return html`
    <${DeckPage} deckId=${deckId} open="Runs" title="Runs" about="Judgements of samples by graders, within a limit of cost. The newest first."
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked(true)}>Grade samples</button>`}>
      <${Table} label="Runs" problem=${problem} again=${again} columns=${columns} rows=${data?.runs ?? null} href=${({ id }) => link([...path, id])}
        empty=${html`<${Empty} title="No runs" command=${`autotune decks grade ${deckId}`}>Have samples graded; what it costs is said before.<//>`} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${StartRun} deckId=${deckId} onDone=${(run) => go([...path, run.id])} onClose=${() => setAsked(false)} />`}
  `;
}
