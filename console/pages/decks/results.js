// What one version of a grader's judge said, by sample.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { LEVELS, LevelMark } from "../../components/levels.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { level, nanoDollars, words } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { useGrader, versionOptions } from "./version-choice.js";

const STATUSES = [["", "all"], ...["scored", "abstained", "failed", "canceled"].map((one) => [one, one])];

export function Results({ deckId, id, query }) {
  const path = ["decks", deckId, "graders", id, "results"];
  const { version = "", status = "", score = "" } = query;
  const of = useGrader(deckId, id);
  const { data, problem, again } = useApi(`decks/${deckId}/graders/${id}/results`, { version, status, score, limit: 50, nextToken: query.token });
  const filter = (changes) => go(path, { version, status, score, ...changes }, { replace: true });
  const columns = [
    { name: "sampleId", title: "Sample", width: 16.5, cell: ({ sampleId }) => html`<code>${sampleId}</code>` },
    { name: "level", title: "Level", width: 7, cell: (one) => (one.status === "scored" ? html`<${LevelMark} value=${one.score} />` : html`<${Badge}>${one.status}<//>`) },
    { name: "why", title: "Explanation", width: 22, cell: (one) => one.explanation ?? words(one.reason) },
    { name: "cost", title: "Cost", width: 7, numeric: true, cell: (one) => nanoDollars(one.costNanoUsd) },
    { name: "createdAt", title: "Judged", width: 7, cell: (one) => html`<${Time} at=${one.createdAt} relative />` },
  ];
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Results" title=${of.grader?.name ?? "Grader"} about="What the judge said, of the newest samples first.">
      <${Trouble} problem=${of.problem} again=${of.again} />
      <div class="filters">
        <${Field} label="Version" name="version" value=${version} onInput=${(value) => filter({ version: value })} options=${versionOptions(of)} problem=${problem} />
        <${Field} label="Status" name="status" value=${status} onInput=${(value) => filter({ status: value })} options=${STATUSES} problem=${problem} />
        <${Field} label="Level" name="score" value=${score} onInput=${(value) => filter({ score: value })} options=${[["", "all"], ...LEVELS.map((one) => [String(one), level(one)])]} problem=${problem} />
      </div>
      <${Table} label="Results" problem=${problem} again=${again} columns=${columns} rows=${data?.results ?? null} href=${({ sampleId }) => link(["decks", deckId, "samples", sampleId])} skeletons=${8}
        empty=${html`<${Empty} title="No results here">${data?.nextToken ? "There may be more on the next page." : "Start a run of the deck, or choose another version."}<//>`} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}
