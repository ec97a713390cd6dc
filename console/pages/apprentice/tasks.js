// Tasks of the apprentice, each with how it gets on.

import { call, Problem, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Empty } from "../../components/empty.js";
import { Page } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { count, nanoDollars, percent } from "../../format.js";
import { html, useEffect, useState } from "../../preact.js";
import { link } from "../../router.js";
import { ALERTS, PHASES, presentOf } from "./frame.js";

// Each has a status of its own to ask for.
const AT_ONCE = 10;

export function Tasks({ query }) {
  const { data, problem, again } = useApi("apprentice/tasks", { limit: AT_ONCE, nextToken: query.token });
  const tasks = data?.tasks ?? null;
  const { statuses, problem: unknown, again: askAgain } = useStatuses(tasks);
  const isKnown = tasks !== null && (statuses !== null || unknown !== null);
  const columns = [
    { name: "name", title: "Task", width: 8.5 },
    { name: "phase", title: "Who answers", width: 14.5, cell: ({ status }) => status && answering(status) },
    { name: "agrees", title: "Agrees", width: 5.5, numeric: true, cell: ({ status }) => percent(status && presentOf(status)?.agreement.mean) },
    { name: "bound", title: "At least", width: 6, numeric: true, cell: ({ status }) => percent(status && boundOf(status)) },
    { name: "budget", title: "Budget used", width: 7.5, numeric: true, cell: ({ status }) => percent(status && usedOf(status)) },
    { name: "saved", title: "Saved, 30 days", width: 9.5, numeric: true, cell: ({ status }) => nanoDollars(status?.savings.netNanoUsd) },
    { name: "alerts", title: "Alerts", width: 11.5, cell: ({ status }) => status?.alerts.map(({ kind, version }) => html`<${Badge} key=${`${kind}${version}`} tone=${ALERTS[kind]}>${kind}<//> `) },
  ];
  const rows = isKnown ? tasks.map((task) => ({ ...task, status: statuses?.get(task.name) })) : null;
  return html`
    <${Page} title="Apprentice" about="What a paid model answers, until a small one has shown that it agrees often enough.">
      <${Table} label="Tasks of the apprentice" problem=${problem ?? unknown} again=${problem ? again : askAgain} columns=${columns} rows=${rows} href=${({ name }) => link(["apprentice", name])}
        empty=${html`
          <${Empty} title="No tasks" command="autotune apprentice apply --config apprentice.yaml">
            A file says what is asked, which models there are, how far they have to agree, and what it may cost.
          <//>`} />
      <${Pager} path=${["apprentice"]} query=${query} nextToken=${data?.nextToken} />
    <//>
  `;
}

function answering(status) {
  if (status.serving !== null) return `version ${count(status.serving)}`;
  return PHASES[status.phase];
}

function boundOf(status) {
  return presentOf(status)?.agreement.bound ?? null;
}

// The period whose budget is used most.
function usedOf({ spend }) {
  const shares = spend.periods.filter(({ limitNanoUsd }) => limitNanoUsd).map((use) => (use.spentNanoUsd + use.reservedNanoUsd) / use.limitNanoUsd);
  return shares.length > 0 ? Math.max(...shares) : null;
}

// The status of each task, by name, once all are there; tasks that were deleted meanwhile have none.
function useStatuses(tasks) {
  const [state, setState] = useState({ statuses: null, problem: null });
  const [round, setRound] = useState(0);
  const names = tasks?.map(({ name }) => name).join() ?? null;
  useEffect(() => {
    if (names === null) return undefined;
    const gone = new AbortController();
    const read = async (name) => {
      try {
        const { status } = await call("GET", `apprentice/tasks/${name}/status`, { signal: gone.signal });
        return [name, status];
      } catch (problem) {
        if (problem instanceof Problem && problem.status === 404) return [name, undefined];
        throw problem;
      }
    };
    Promise.all(names === "" ? [] : names.split(",").map(read)).then(
      (read) => setState({ statuses: new Map(read), problem: null }),
      (problem) => {
        if (gone.signal.aborted) return;
        gone.abort();
        if (!(problem instanceof Problem)) throw problem;
        setState({ statuses: null, problem });
      },
    );
    return () => gone.abort();
  }, [names, round]);
  return { ...state, again: () => setRound((old) => old + 1) };
}
