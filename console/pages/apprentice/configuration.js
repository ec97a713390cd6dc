// Versions of a task's configuration: what one says, and what changed between two.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { FactsToCome, Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { TextDifference } from "../../components/text-difference.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { TaskPage } from "./frame.js";

const PARTS = [
  ["description", "Description"],
  ["systemPrompt", "System prompt"],
  ["promptTemplate", "Question"],
  ["inputSchema", "Schema of inputs"],
  ["outputSchema", "Schema of answers"],
  ["remote", "Paid models"],
  ["local", "Small model"],
  ["evaluator", "Evaluator"],
  ["thresholds", "Thresholds"],
  ["confidence", "Confidence"],
  ["sampling", "Sampling"],
  ["budgets", "Budgets"],
  ["training", "Training"],
];

export function Configuration({ name, query }) {
  const path = ["apprentice", name, "configuration"];
  const of = `apprentice/tasks/${encodeURIComponent(name)}`;
  const task = useApi(of);
  const { data, problem, again } = useApi(`${of}/configurations`, { limit: 20, nextToken: query.token });
  const present = task.data?.task.version;
  const rows = present === undefined ? null : (data?.configurations ?? null);
  const shown = query.shown ?? (present === undefined ? null : String(present));
  const columns = [
    { name: "version", title: "Version", width: 5.5, cell: ({ version }) => count(version) },
    { name: "present", title: "", width: 6, cell: ({ version }) => version === present && html`<${Badge} tone="good">present<//>` },
    { name: "change", title: "", width: 8, cell: ({ version }) => version > 1 && html`<a href=${link(path, { a: version - 1, b: version })}>What changed</a>` },
    { name: "evidence", title: "Evidence", width: 9, cell: (one) => evidence(one, rows) },
    { name: "createdAt", title: "Made", width: 7, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
    { name: "createdBy", title: "By", width: 16.5, cell: ({ createdBy }) => html`<code>${createdBy}</code>` },
  ];
  const isCompared = query.a && query.b;
  return html`
    <${TaskPage} name=${name} open="Configuration" about="A version never changes. One with another definition (prompts, schemas, evaluator, paid model) begins evidence anew. Keys of providers are no part of it: they lie with their connections.">
      <${Trouble} problem=${task.problem} again=${task.again} />
      <${Table} label="Versions of the configuration" problem=${problem} again=${again} columns=${columns} rows=${rows} id=${({ version }) => version} skeletons=${2}
        href=${({ version }) => link(path, { shown: version })} isOpen=${({ version }) => !isCompared && String(version) === shown} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
      ${rows && isCompared && html`<${Changes} key=${`${query.a}-${query.b}`} of=${of} a=${query.a} b=${query.b} />`}
      ${rows && !isCompared && shown && html`<${One} key=${shown} of=${of} version=${shown} />`}
    <//>
  `;
}

// Against the one before, where that is on the page.
function evidence({ version, definitionHash }, rows) {
  if (version === 1) return "begins";
  const before = rows.find((one) => one.version === version - 1);
  if (!before) return html`<span class="nothing">–</span>`;
  return before.definitionHash === definitionHash ? "stays" : html`<${Badge} tone="warning">begins anew<//>`;
}

function One({ of, version }) {
  const { data, problem, again } = useApi(`${of}/configurations/${version}`);
  return html`
    <${Section} title=${`Configuration ${version}`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!data && !problem && html`<${FactsToCome} />`}
      ${data && partsOf(data.configuration).filter(([, text]) => text !== "").map(([title, text]) => html`
        <div key=${title} class="text"><p class="text-head">${title}</p><pre class="body" tabindex="0" role="region" aria-label=${title}>${text}</pre></div>`)}
    <//>
  `;
}

function Changes({ of, a, b }) {
  const before = useApi(`${of}/configurations/${a}`);
  const after = useApi(`${of}/configurations/${b}`);
  const problem = before.problem ?? after.problem;
  const isThere = before.data && after.data;
  const now = isThere ? partsOf(after.data.configuration) : [];
  const changed = isThere ? partsOf(before.data.configuration).map(([title, was], index) => [title, was, now[index][1]]).filter(([, was, is]) => was !== is) : [];
  return html`
    <${Section} title=${`From version ${a} to ${b}`}>
      <${Trouble} problem=${problem} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && changed.length === 0 && html`<p class="nothing">No difference.</p>`}
      ${changed.map(([title, was, is]) => html`<div key=${title} class="text"><p class="text-head">${title}</p><${TextDifference} label=${`What changed in ${title}`} before=${was} after=${is} /></div>`)}
    <//>
  `;
}

// Title and text of each part; prompts and schemas as they are, of the rest what is set.
function partsOf({ configuration }) {
  return PARTS.map(([field, title]) => [title, textOf(field, configuration[field])]);
}

function textOf(field, value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return JSON.stringify(value, field.endsWith("Schema") ? null : isSet, 2);
}

function isSet(_, value) {
  return value === null ? undefined : value;
}
