// Where a judge errs, found by counting: no model is asked.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Field } from "../../components/field.js";
import { LevelMark } from "../../components/levels.js";
import { FactsToCome, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Trouble } from "../../components/trouble.js";
import { count, difference, score, words } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { intervalText } from "./measures.js";
import { useGrader, versionOptions } from "./version-choice.js";

export function Patterns({ deckId, id, query }) {
  const of = ["decks", deckId, "graders", id];
  const which = useGrader(deckId, id);
  const { data, problem, again } = useApi(`decks/${deckId}/graders/${id}/patterns`, { version: query.version });
  const found = data?.patterns;
  const isThere = found && which.isThere;
  const told = problem ?? which.problem;
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Patterns" title=${which.grader?.name ?? "Grader"} about="Where the judge errs, of the development half, the surest first. It is counted: no model is asked.">
      <${Trouble} problem=${told} again=${problem ? again : which.again} />
      ${!isThere && !told && html`<${FactsToCome} />`}
      ${isThere && html`
        <div class="filters">
          <${Field} label="Version" name="version" value=${query.version ?? ""} onInput=${(version) => go([...of, "patterns"], { version })} options=${versionOptions(which)} />
        </div>
        <p class="note">${count(found.n)} samples have a label and a judge’s level. q is adjusted for all that was compared; a pattern is sure from 0.05 down.</p>
        <${Errors} errors=${found.errors} />
        <${Cells} cells=${found.cells} to=${(cell) => link([...of, "disagreements"], { version: query.version, truth: cell.truth, score: cell.score })} />`}
    <//>
  `;
}

function Errors({ errors }) {
  const columns = [
    { name: "what", title: "Of samples with", width: 14, cell: ({ factor, value }) => (factor === "all" ? "all" : `${words(factor)}: ${value}`) },
    { name: "mean", title: "Judge is too high by", width: 10, numeric: true, cell: (one) => difference(one.meanError) },
    { name: "interval", title: "Interval", width: 12, cell: (one) => intervalText(one, difference) },
    { name: "n", title: "Samples", width: 6, numeric: true, cell: (one) => count(one.n) },
    { name: "q", title: "q", width: 5, numeric: true, cell: (one) => score(one.q) },
    { name: "sure", title: "", width: 5, cell: (one) => one.significant && html`<${Badge} tone="trouble">sure<//>` },
  ];
  return html`
    <${Section} title="Errors by kind of sample">
      <${Table} label="Errors by kind of sample" columns=${columns} rows=${errors} id=${({ factor, value }) => `${factor} ${value}`} empty=${html`<p class="nothing none">Nothing to compare yet.</p>`} />
    <//>
  `;
}

function Cells({ cells, to }) {
  const columns = [
    { name: "truth", title: "People say", width: 7, cell: ({ truth }) => html`<${LevelMark} value=${truth} />` },
    { name: "score", title: "Judge says", width: 7, cell: ({ score: said }) => html`<${LevelMark} value=${said} />` },
    { name: "count", title: "Samples", width: 6, numeric: true, cell: (one) => count(one.count) },
    { name: "expected", title: "By chance", width: 6, numeric: true, cell: (one) => one.expected.toFixed(1) },
    { name: "q", title: "q", width: 5, numeric: true, cell: (one) => score(one.q) },
    { name: "sure", title: "", width: 5, cell: (one) => one.significant && html`<${Badge} tone="trouble">sure<//>` },
  ];
  return html`
    <${Section} title="Levels taken for others">
      <${Table} label="Levels taken for others" columns=${columns} rows=${cells} id=${({ truth, score: said }) => `${truth} ${said}`} href=${to} empty=${html`<p class="nothing none">Nothing to compare yet.</p>`} />
    <//>
  `;
}
