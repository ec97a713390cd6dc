// How long it takes until a version graduates, and at what price.

import { Facts, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, percent, score } from "../../format.js";
import { html } from "../../preact.js";

const pace = (value) => (value < 10 ? score(value) : count(value));
const AS_DAY = (value) => value ?? "–";

/** The estimate as `useApi` has it. */
export function Prospect({ estimate: { data, problem, again } }) {
  if (!data) return html`<${Section} title="How long until graduation"><${Trouble} problem=${problem} again=${again} /><//>`;
  const { estimate } = data;
  const { message, pairs, costNanoUsd, dates } = estimate;
  const rows = [["Pairs", pairs, count], ["Cost", costNanoUsd, nanoDollars], ["Day (UTC)", dates, AS_DAY]].map(([what, range, show]) => ({ what, range, show }));
  const cell = (name) => ({ range, show }) => show(range[name]);
  const isForetold = [pairs, costNanoUsd, dates].some((range) => range.low !== null || range.median !== null);
  return html`
    <${Section} title="How long until graduation">
      <p class="note">${message.replace(/^./, (letter) => letter.toUpperCase())}.</p>
      <${Facts} facts=${[
        ["Agreement that goes on", estimate.agreement === null ? null : `${percent(estimate.agreement)} of ${count(estimate.observedPairs)} pairs`],
        ["Runs a day", estimate.runsADay === null ? null : pace(estimate.runsADay)],
        ["Pairs a day", estimate.pairsADay === null ? null : pace(estimate.pairsADay)],
        ["A paid answer", estimate.callNanoUsd === null ? null : nanoDollars(estimate.callNanoUsd)],
      ]} />
      ${isForetold && html`
        <${Table} label="How long until graduation" id=${({ what }) => what} rows=${rows} columns=${[
          { name: "what", title: "", width: 7 },
          { name: "low", title: "1 in 10 below", width: 9, numeric: true, cell: cell("low") },
          { name: "median", title: "Half below", width: 8, numeric: true, cell: cell("median") },
          { name: "high", title: "1 in 10 above", width: 9, numeric: true, cell: cell("high") },
        ]} />`}
    <//>
  `;
}
