// Exports: scores as training data.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { Pager } from "../components/pager.js";
import { Table } from "../components/table.js";
import { Time } from "../components/time.js";
import { count, words } from "../format.js";
import { html, useState } from "../preact.js";
import { go, link } from "../router.js";
import { Export } from "./export.js";
import { CreateExport } from "./export-creation.js";

const WRITING_SECONDS = 3;
const IDLE_SECONDS = 30;
const UNDER_WAY = new Set(["pending", "running"]);
const whileWriting = ({ exports }) => (exports.some(({ state }) => UNDER_WAY.has(state)) ? WRITING_SECONDS : IDLE_SECONDS);

export const title = "Exports";

export default function Exports({ path, query, me }) {
  return path.length > 0 ? html`<${Export} key=${path[0]} id=${path[0]} me=${me} />` : html`<${List} query=${query} />`;
}

function List({ query }) {
  const { data, problem, again } = useApi("exports", { limit: 200, nextToken: query.token }, { every: whileWriting });
  const [isAsked, setAsked] = useState(false);
  const isWhole = data && !query.token && !data.nextToken;
  const rows = isWhole ? [...data.exports].reverse() : (data?.exports ?? null);
  const columns = [
    { name: "id", title: "Export", width: 18, cell: (one) => html`<code>${one.id}</code>` },
    { name: "state", title: "State", width: 8, cell: (one) => html`<${Badge}>${one.state}<//>` },
    { name: "shape", title: "Records are", width: 8, cell: (one) => words(one.request.shape) },
    { name: "format", title: "Format", width: 6, cell: (one) => one.request.format },
    { name: "records", title: "Records", width: 6.5, numeric: true, cell: (one) => count(one.progress.recordsWritten) },
    { name: "scanned", title: "Looked at", width: 6.5, numeric: true, cell: (one) => count(one.progress.scanned) },
    { name: "createdAt", title: "Made", width: 8, cell: (one) => html`<${Time} at=${one.createdAt} relative />` },
    { name: "expiresAt", title: "Kept until", width: 12, cell: (one) => html`<${Time} at=${one.expiresAt} />` },
  ];
  return html`
    <${Page} title=${title} about=${`Scores as training data, ${isWhole === false ? "the oldest first" : "the youngest first"}. Files are kept for seven days.`}
      actions=${html`<button type="button" class="primary" onClick=${() => setAsked(true)}>New export</button>`}>
      <${Table} label="Exports" problem=${problem} again=${again} columns=${columns} rows=${rows} href=${(one) => link(["exports", one.id])}
        empty=${html`
          <${Empty} title="No exports in the last seven days" command="autotune export --task TASK_ID --format parquet --out DIRECTORY">
            Make one here, or have the command wait for it and download it.
          <//>`} />
      <${Pager} path=${["exports"]} query=${query} nextToken=${data?.nextToken} />
    <//>
    ${isAsked && html`<${CreateExport} onDone=${(made) => go(["exports", made.id])} onClose=${() => setAsked(false)} />`}
  `;
}
