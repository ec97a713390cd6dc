// What language models cost: by day, and by model, purpose or connection; and what the budget leaves.

import { useApi } from "../../api.js";
import { Bars } from "../../components/bars.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { count, nanoDollars, percent } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { Budget } from "./budget.js";
import { LedgerPage } from "./frame.js";

const DAY_MS = 86_400_000;
const SPANS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"]];
const GROUPS = [["model", "model"], ["purpose", "purpose"], ["connection", "connection"], ["day", "day"]];
const SUMS = ["rows", "inputTokens", "cachedInputTokens", "outputTokens", "costNanoUsd"];
// By which filter of the requests' list a group's own are found.
const FILTERS = { model: "model", purpose: "purpose", connection: "connectionId" };

export function Spend({ query, mayChange }) {
  const wanted = query.by ?? "model";
  const days = daysOf(Number(query.days ?? 30));
  const { data, problem, again } = useApi("llm-costs", { groupBy: wanted, from: days[0], to: days.at(-1) });
  const budget = useApi("llm-budget", {}, { every: 15 });
  const waiting = useApi("llm-batches", { needsOperator: true, limit: 1 });
  const connections = useApi(wanted === "connection" ? "llm-connections" : null, { limit: 200 });
  // What is there stays until what was chosen comes.
  const by = data?.groupBy ?? wanted;
  const costs = data?.costs ?? null;
  // What stands below what waits comes once that is known.
  const isKnown = waiting.data !== null || waiting.problem !== null;
  const isNamed = by !== "connection" || connections.data !== null || connections.problem !== null;
  const groups = costs && isNamed ? groupsOf(costs, by) : null;
  const isThere = groups !== null || problem !== null;
  const sum = costs && added(costs);
  const choose = (name) => (value) => go(["ledger"], { ...query, group: undefined, [name]: value });
  const nameOf = (group) => connections.data?.connections.find(({ id }) => id === group)?.name ?? group;
  const shown = groups?.find(({ group }) => group === query.group && by !== "day");
  const columns = [
    { name: "group", title: by.replace(/^./, (letter) => letter.toUpperCase()), width: 14.5, cell: ({ group }) => nameOf(group) },
    { name: "cost", title: "Cost", width: 7.5, numeric: true, cell: (one) => nanoDollars(one.costNanoUsd) },
    { name: "share", title: "Share", width: 5.5, numeric: true, cell: (one) => percent(sum.costNanoUsd ? one.costNanoUsd / sum.costNanoUsd : null) },
    { name: "rows", title: "Requests", width: 6.5, numeric: true, cell: (one) => count(one.rows) },
    { name: "in", title: "Input tokens", width: 7.5, numeric: true, cell: (one) => count(one.inputTokens) },
    { name: "cached", title: "Cached input", width: 7.5, numeric: true, cell: (one) => count(one.cachedInputTokens) },
    { name: "out", title: "Output tokens", width: 8, numeric: true, cell: (one) => count(one.outputTokens) },
  ];
  if (FILTERS[by]) {
    columns.push({ name: "requests", title: "", width: 6, cell: ({ group }) => html`
      <a href=${link(["ledger", "requests"], { [FILTERS[by]]: group })} aria-label=${`Requests of ${nameOf(group)}`}>requests</a>` });
  }
  const href = ({ group }) => link(["ledger"], { ...query, group: group === query.group ? undefined : group });
  return html`
    <${LedgerPage} open="Spend" about="Each call of a language model is a request here, with what it was asked, answered and cost.">
      ${waiting.data?.batches.length > 0 && html`
        <p class="notice" role="status">A batch waits for an operator, and its money is held. <a href=${link(["ledger", "batches"])}>See what is unclear</a></p>`}
      ${!isKnown && html`<${FactsToCome} />`}
      ${isKnown && html`
        <${Budget} budget=${budget} mayChange=${mayChange} />
        <${Section} title="Spend">
          <div class="filters">
            <${Field} label="By" name="groupBy" value=${wanted} onInput=${choose("by")} options=${GROUPS} problem=${problem} data-search />
            <${Field} label="Time" name="from" value=${query.days ?? "30"} onInput=${choose("days")} options=${SPANS} problem=${problem} />
          </div>
          <${Stats} key=${isThere ? "sums" : "sums to come"}>
            <${Stat} label="Spent" value=${sum && nanoDollars(sum.costNanoUsd)} hint=${`in ${days.length} days, by UTC`} />
            <${Stat} label="Requests" value=${sum && count(sum.rows)} hint="each attempt counts" />
            <${Stat} label="Input tokens" value=${sum && count(sum.inputTokens)} hint=${sum && `${count(sum.cachedInputTokens)} of them cached`} />
            <${Stat} label="Output tokens" value=${sum && count(sum.outputTokens)} hint="reasoning included" />
          <//>
          ${isThere && !(problem && !costs) && costs?.length !== 0 && html`
            <div class="chart-head">
              <h3>Spend by day${shown ? html`: ${nameOf(shown.group)}` : ""}</h3>
              ${shown && html`<a href=${link(["ledger"], { ...query, group: undefined })}>All</a>`}
            </div>
            <${Bars} label=${shown ? `Spend by day: ${nameOf(shown.group)}` : "Spend by day"} bins=${binsOf(costs ?? [], days, shown)} show=${nanoDollars} head="Spend" />`}
          <${Table} key=${isThere ? "groups" : "groups to come"} label="Spend by group" problem=${problem} again=${again} columns=${columns} rows=${groups} id=${({ group }) => group}
            href=${by === "day" ? undefined : href}
            empty=${html`
              <${Empty} title="Nothing was spent in this time" command="autotune llm costs">
                Requests count on the day on which their batch ended. Enqueue some, or look at more days.
              <//>`} />
        <//>`}
    <//>
  `;
}

// The days of a span, the oldest first, as the API names them.
function daysOf(length) {
  const span = SPANS.some(([key]) => Number(key) === length) ? length : 30;
  const now = Date.now();
  return Array.from({ length: span }, (_, index) => new Date(now - (span - 1 - index) * DAY_MS).toISOString().slice(0, 10));
}

function added(costs) {
  const sum = Object.fromEntries(SUMS.map((name) => [name, 0]));
  for (const cost of costs) for (const name of SUMS) sum[name] += cost[name];
  return sum;
}

// The dearest first; days as they were, the youngest first.
function groupsOf(costs, by) {
  const found = Map.groupBy(costs, ({ group }) => group);
  const groups = [...found].map(([group, own]) => ({ group, ...added(own) }));
  if (by === "day") return groups.sort((one, other) => (one.group < other.group ? 1 : -1));
  return groups.sort((one, other) => other.costNanoUsd - one.costNanoUsd);
}

function binsOf(costs, days, shown) {
  const counted = costs.filter(({ group }) => !shown || group === shown.group);
  return days.map((day) => ({ label: day, value: added(counted.filter((cost) => cost.day === day)).costNanoUsd }));
}
