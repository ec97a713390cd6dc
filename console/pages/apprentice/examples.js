// Examples of a task: how many there are of which kind, their texts, and how one goes.

import { send, useAct, useApi } from "../../api.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Facts, Stat, Stats } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, percent } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { TaskPage } from "./frame.js";

const ABOUT = "What the paid model answered under the present definition. Some are held out: no model learns from them, and they judge each.";
const SELECTIONS = { phase1: "before any version", random: "drawn by chance", escalated: "the version did not answer", imported: "brought by somebody" };
const SIDES = { train: "learned from", holdout: "held out" };

export function Examples({ name, query }) {
  const of = `apprentice/tasks/${encodeURIComponent(name)}/examples`;
  const path = ["apprentice", name, "examples"];
  const counts = useApi(`${of}/counts`);
  const { data, problem, again } = useApi(of, { limit: 20, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const columns = [
    { name: "input", title: "Input", width: 17, cell: ({ input }) => text(input) },
    { name: "output", title: "Answer", width: 13, cell: ({ output }) => text(output) },
    { name: "selection", title: "Why it was asked", width: 11, cell: ({ selection }) => SELECTIONS[selection] },
    { name: "side", title: "Side", width: 7, cell: ({ side }) => SIDES[side] ?? "neither" },
    { name: "run", title: "Run", width: 5, cell: ({ runId }) => runId && html`<a href=${link(["apprentice", name, "runs", runId])}>run</a>` },
    { name: "at", title: "Answered", width: 7, cell: ({ at }) => html`<${Time} at=${at} relative />` },
    { name: "delete", title: "", width: 5.5, cell: (one) => html`<button type="button" onClick=${() => setAsked(one)}>Delete</button>` },
  ];
  const done = () => {
    setAsked(null);
    counts.again();
    again();
  };
  return html`
    <${TaskPage} name=${name} open="Examples" about=${ABOUT}>
      <${Trouble} problem=${counts.problem} again=${counts.again} />
      ${!counts.problem && html`<${Counts} counts=${counts.data?.counts} />`}
      <${Table} label="Examples" problem=${problem} again=${again} columns=${columns} rows=${data?.examples ?? null} id=${({ id }) => id}
        empty=${html`<${Empty} title="No examples" command=${`autotune apprentice examples import ${name} examples.jsonl`}>Each answer of the paid model becomes one, and some may be brought.<//>`} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
      ${asked && html`<${Delete} of=${of} example=${asked} onDone=${done} onClose=${() => setAsked(null)} />`}
    <//>
  `;
}

// Drawn as it is before it loads, so that nothing moves once it has.
function Counts({ counts }) {
  const sides = counts?.sides;
  const shown = (value) => (counts ? count(value) : null);
  return html`
    <${Stats}>
      <${Stat} label="Examples" value=${shown(counts?.examples)} hint="of the present definition" />
      <${Stat} label="Learned from" value=${shown(sides?.train)} hint="by the next training" />
      <${Stat} label="Held out" value=${shown(sides?.holdout)} hint="they judge each model" />
      <${Stat} label="Neither" value=${shown(sides?.neither)} hint="they judge nothing" />
    <//>
    <${Facts} facts=${[
      ...Object.entries(SELECTIONS).map(([selection, title]) => [title, count(counts?.selections[selection])]),
      ["Held out", counts ? splitOf(counts.split) : count(null)],
    ]} />
  `;
}

function splitOf({ holdout, splitBy, isFixed }) {
  const of = splitBy.length === 0 ? "inputs" : `groups by ${splitBy.join(", ")}`;
  return `${percent(holdout)} of ${of}${isFixed ? ", for good" : ""}`;
}

function text(value) {
  return value ? html`<code title=${JSON.stringify(value, null, 2)}>${JSON.stringify(value)}</code>` : html`<span class="nothing">erased</span>`;
}

function Delete({ of, example, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `${of}/${example.id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete this example?" yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Nothing learns from it any more, and nothing is judged by it. Its run stays, and so do models that learned from it.
    <//>
  `;
}
