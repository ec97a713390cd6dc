// Runs of a task on a day, the youngest first, and which way each went.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { nanoDollars } from "../../format.js";
import { html } from "../../preact.js";
import { go, link } from "../../router.js";
import { TaskPage } from "./frame.js";
import { Run } from "./run.js";

const LIVE_SECONDS = 15;
const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;
const STATES = [["", "any"], ...["pending", "answered", "refused", "failed"].map((state) => [state, state])];
export const TONES = { answered: "good", refused: "warning", failed: "trouble", pending: "plain" };

export function Runs({ name, id, query }) {
  return id ? html`<${Run} key=${id} name=${name} id=${id} />` : html`<${List} name=${name} query=${query} />`;
}

function List({ name, query }) {
  const asked = { day: query.day, state: query.state, limit: 50, nextToken: query.token };
  const { data, problem, again } = useApi(`apprentice/tasks/${encodeURIComponent(name)}/runs`, asked, { every: query.token ? undefined : LIVE_SECONDS });
  const earlier = before(query.day);
  const choose = (field) => (value) => {
    const { token, ...filters } = query;
    go(["apprentice", name, "runs"], { ...filters, [field]: value });
  };
  const columns = [
    { name: "id", title: "Run", width: 17.5, cell: ({ id }) => html`<code>${id}</code>` },
    { name: "state", title: "State", width: 7, cell: ({ state }) => html`<${Badge} tone=${TONES[state]}>${state}<//>` },
    { name: "answers", title: "Answered by", width: 11, cell: (run) => answeredBy(run) },
    { name: "marks", title: "Marks", width: 13, cell: ({ routing }) => marksOf(routing).join(", ") },
    { name: "cost", title: "Cost", width: 7, numeric: true, cell: ({ routing }) => nanoDollars(routing?.costNanoUsd) },
    { name: "createdAt", title: "Began", width: 7.5, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
  ];
  return html`
    <${TaskPage} name=${name} open="Runs" about="Each input of a day in UTC, the youngest first, and which way it went.">
      <div class="filters" role="search">
        <${Field} label="Day (UTC)" name="day" value=${query.day ?? ""} onInput=${choose("day")} options=${days(query.day)} problem=${problem} data-search />
        <${Field} label="State" name="state" value=${query.state ?? ""} onInput=${choose("state")} options=${STATES} problem=${problem} />
      </div>
      <${Table} label="Runs" problem=${problem} again=${again} columns=${columns} rows=${data?.runs ?? null} href=${({ id }) => link(["apprentice", name, "runs", id])}
        empty=${html`
          <${Empty} title=${data?.nextToken ? "Nothing that fits on this page" : "No runs on this day"} command=${data?.nextToken ? undefined : `autotune apprentice run ${name} --input @input.json`}>
            ${data?.nextToken ? "There is more on the next page." : "They are listed within seconds."}
          <//>`} />
      <${Pager} path=${["apprentice", name, "runs"]} query=${query} nextToken=${data?.nextToken} />
      ${data && !problem && !data.nextToken && earlier && html`<p class="note after"><a href=${link(["apprentice", name, "runs"], { day: earlier, state: query.state })}>Runs of ${earlier}</a></p>`}
    <//>
  `;
}

/** Who answered a run, in words. */
export function answeredBy({ state, routing }) {
  if (state !== "answered" || !routing) return "–";
  return routing.answers === "local" ? `version ${routing.localVersion}` : "the paid model";
}

/** What is worth a word of the way that a run went. */
export function marksOf(routing) {
  if (!routing) return [];
  const { isDrawn, inCanary, escalated, unmonitored, check } = routing;
  return [isDrawn && "drawn", inCanary && "canary", escalated && "escalated", unmonitored && "unmonitored", check !== "none" && `check ${check}`].filter(Boolean);
}

// The day before one, and before today without one: a list goes on there. Old data stays while another
// day is asked for, which may be none.
function before(day) {
  const at = day === undefined ? Date.now() : Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(at)) return undefined;
  return new Date(at - DAY_MS).toISOString().slice(0, "2026-11-27".length);
}

// The last days, and the one that the address names.
function days(named) {
  const last = Array.from({ length: SHOWN_DAYS }, (_, index) => new Date(Date.now() - index * DAY_MS).toISOString().slice(0, 10));
  const [today, ...before] = last;
  const others = named && !last.includes(named) ? [...before, named] : before;
  return [["", `today, ${today}`], ...others.map((day) => [day, day])];
}
