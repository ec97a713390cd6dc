// Pairs of a version: how far its answers and the paid model's agreed, the youngest first.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, score } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { presentOf, TaskPage } from "./frame.js";

export function Pairs({ name, query }) {
  const path = `apprentice/tasks/${encodeURIComponent(name)}`;
  const { data, problem, again } = useApi(`${path}/status`);
  const status = data?.status;
  const version = query.version ?? (status && String((presentOf(status) ?? status.versions[0])?.number ?? ""));
  return html`
    <${TaskPage} name=${name} open="Pairs" about="How far a version's answers and the paid model's agreed on one input. Only those that chance drew are evidence.">
      <${Trouble} problem=${problem} again=${again} />
      ${version === "" && html`<${Empty} title="No versions">Pairs come once a small model is asked beside the paid one.<//>`}
      ${status && version && html`<${Of} name=${name} path=${path} query=${query} version=${version} versions=${status.versions} />`}
    <//>
  `;
}

function Of({ name, path, query, version, versions }) {
  const { data, problem, again } = useApi(`${path}/pairs`, { version, limit: 50, nextToken: query.token });
  const numbers = [...new Set([...versions.map(({ number }) => String(number)), version])];
  const columns = [
    { name: "sequence", title: "Pair", width: 5, numeric: true, cell: ({ sequence }) => count(sequence) },
    { name: "score", title: "Score", width: 6, numeric: true, cell: (pair) => score(pair.score) },
    { name: "drawn", title: "Evidence", width: 7, cell: ({ isDrawn, isSure }) => (!isDrawn ? "no: not drawn" : isSure ? "yes" : "not behind a gate: unsure") },
    { name: "at", title: "Answered", width: 12, cell: ({ at }) => html`<${Time} at=${at} />` },
    { name: "run", title: "Run", width: 18, cell: ({ runId }) => html`<a href=${link(["apprentice", name, "runs", runId])}><code>${runId}</code></a>` },
  ];
  return html`
    <div class="filters">
      <${Field} label="Version" name="version" value=${version} onInput=${(value) => go(["apprentice", name, "pairs"], { version: value })} options=${numbers.map((one) => [one, one])} problem=${problem} />
    </div>
    <${Table} label="Pairs" problem=${problem} again=${again} columns=${columns} rows=${data?.pairs ?? null} id=${({ sequence }) => sequence}
      empty=${html`<${Empty} title="No pairs">Nothing of this version was compared yet.<//>`} />
    <${Pager} path=${["apprentice", name, "pairs"]} query=${query} nextToken=${data?.nextToken} />
  `;
}
