// One grader: how it is, what it scored over time, by version, and how much it is used.

import { useApi } from "../api.js";
import { Badge } from "../components/badge.js";
import { Choice } from "../components/choice.js";
import { Copy } from "../components/copy.js";
import { Empty } from "../components/empty.js";
import { Facts, FactsToCome, Page, Section, Stat, Stats } from "../components/page.js";
import { Time } from "../components/time.js";
import { Trouble } from "../components/trouble.js";
import { count, duration, words } from "../format.js";
import { html, useState } from "../preact.js";
import { link } from "../router.js";
import { RotateSecret, VerifyGrader } from "./grader-dialogs.js";
import { GraderAgreement } from "./grader-agreement.js";
import { GraderFigures } from "./grader-figures.js";
import { TryGrader } from "./try-grader.js";
import { WINDOWS } from "./windows.js";

const OPTIONS = [...WINDOWS, ["all", "all time"]];
/** Roles that may register graders and look after them. */
export const OWNERS = ["admin", "grader_owner"];
const TRAINERS = ["admin", "training_operator"];

/** The grader of an id; window and version lie in the query. */
export function Grader({ id, query, me }) {
  const window = query.window ?? "7d";
  const { data, problem, again } = useApi(`graders/${id}`);
  const health = useApi(`graders/${id}/health`, {}, { every: 10 });
  const stats = useApi(`graders/${id}/stats`, { window: window === "all" ? "" : window, version: query.version }, { every: 15 });
  const usage = useApi(OWNERS.includes(me.role) ? `graders/${id}/usage` : null);
  const [asked, setAsked] = useState(null);
  const grader = data?.grader;
  const isForeign = grader && health.problem?.status === 404;
  // One part stands below the other: they come together, so that none is moved by another.
  const asks = [health, stats, ...(OWNERS.includes(me.role) ? [usage] : [])];
  const isThere = grader && asks.every((one) => one.data !== null || one.problem !== null);
  const change = (changes) => link(["graders", id], { ...query, ...changes });
  const close = () => setAsked(null);
  const done = () => {
    again();
    health.again();
  };
  return html`
    <${Page} title=${grader?.name ?? "Grader"} about=${grader?.description} actions=${isThere && !isForeign ? html`<${Actions} grader=${grader} me=${me} ask=${setAsked} />` : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && !isForeign && html`
        <${Health} health=${health} usage=${usage} />
        <${GraderFigures} id=${id} query=${query} stats=${stats} change=${change} decided=${link(["completions"], { grader: id, task: TRAINERS.includes(me.role) ? "all" : "" })}
          choice=${html`<${Choice} label="Time" options=${OPTIONS} value=${window} href=${(key) => change({ window: key === "7d" ? "" : key })} />`} />
        <${Settings} grader=${grader} />
        ${TRAINERS.includes(me.role) && html`<${GraderAgreement} id=${id} window=${window} />`}`}
      ${isThere && isForeign && html`
        <${Settings} grader=${grader} />
        <${Empty} title="Its figures are its owner’s" command=${`autotune tasks create --name NAME --grader ${id}`}>
          It belongs to somebody else, and is there for everybody: a task may name it.
        <//>`}
    <//>
    ${asked === "verify" && html`<${VerifyGrader} grader=${grader} onDone=${done} onClose=${close} />`}
    ${asked === "rotate" && html`<${RotateSecret} grader=${grader} onDone=${again} onClose=${close} />`}
    ${asked === "try" && html`<${TryGrader} grader=${grader} onClose=${close} />`}
  `;
}

function Actions({ grader, me, ask }) {
  const owns = OWNERS.includes(me.role);
  return html`
    ${TRAINERS.includes(me.role) && html`<button type="button" onClick=${() => ask("try")}>Try one completion</button>`}
    ${owns && html`<button type="button" onClick=${() => ask("verify")}>Verify</button>`}
    ${owns && grader.kind === "http" && html`<button type="button" onClick=${() => ask("rotate")}>New secret</button>`}`;
}

function Health({ health, usage }) {
  const found = health.data?.health;
  const probe = found?.lastProbe;
  const circuit = found?.circuit;
  const shown = (value) => (found ? value() : null);
  const used = usage.data;
  return html`
    <${Section} title="Health">
      <${Trouble} problem=${health.problem} again=${health.again} />
      <${Stats}>
        <${Stat} label="Status" value=${shown(() => html`<${Badge}>${found.status}<//>`)} hint=${found?.statusChangedAt ? html`changed <${Time} at=${found.statusChangedAt} relative />` : undefined} />
        <${Stat} label="Circuit" value=${shown(() => (circuit ? html`<${Badge} tone=${CIRCUITS[circuit.state]}>${circuit.state}<//>` : "–"))} hint=${circuitHint(circuit)} />
        <${Stat} label="Last probe" value=${shown(() => (probe ? html`<${Badge} tone=${PROBES[probe.outcome]}>${probe.outcome}<//>` : "–"))} hint=${probeHint(found)} />
        <${Stat} label="Probe latency" value=${shown(() => duration(probe?.latencyMs))} hint=${probe ? html`<${Time} at=${probe.probedAt} relative />` : undefined} />
        <${Stat} label="Its next turn" value=${shown(() => (found.nextTurnAt ? html`<${Time} at=${found.nextTurnAt} relative />` : "at once"))} hint="within its limits" />
        <${Stat} label="Used this month" value=${usage.problem || !usedBy(usage) ? "–" : used ? count(used.total) : null} hint=${used ? "verdicts, for all" : undefined} />
      <//>
    <//>
  `;
}

const CIRCUITS = { closed: "good", "half-open": "warning", open: "trouble" };
const PROBES = { healthy: "good", degraded: "warning", failed: "trouble" };

function usedBy({ loading, data }) {
  return loading || data !== null;
}

function circuitHint(circuit) {
  if (circuit?.openUntil) return html`tried again <${Time} at=${circuit.openUntil} relative />`;
  if (circuit?.lastFailedAt) return html`last failed <${Time} at=${circuit.lastFailedAt} relative />`;
  return circuit ? "no failure in a day" : undefined;
}

function probeHint(found) {
  const probe = found?.lastProbe;
  if (!found) return undefined;
  if (!found.probed) return "not probed";
  if (!probe) return "not yet";
  return probe.reasonCode ? words(probe.reasonCode) : `${count(found.consecutiveHealthy)} healthy in a row`;
}

function Settings({ grader }) {
  const { capabilities, limits, asyncSettings } = grader;
  const config = grader.builtin ?? grader.rubric;
  return html`
    <${Section} title="Settings">
      <${Facts} facts=${[
        ["Id", html`<${Copy} text=${grader.id} />`],
        ["Kind", grader.kind],
        ["Endpoint", grader.endpoint && html`<code>${grader.endpoint}</code>`],
        ["Version", grader.version],
        ["Calibrated", grader.calibrated === null ? null : grader.calibrated ? "yes" : "no"],
        ["Verified", grader.verifiedAt && html`<${Time} at=${grader.verifiedAt} />`],
        ["For whom", grader.visibility === "public" ? "every organisation" : "our organisation"],
        ["Reasoning", grader.shareReasoning ? "is shown to trainers" : "is not kept"],
        ["Most completions of one request", grader.kind === "http" ? count(capabilities.maxBatchSize) : null],
        ["Most requests at the same time", limits.maxConcurrency && count(limits.maxConcurrency)],
        ["Most requests per second", limits.requestsPerSecond && String(limits.requestsPerSecond)],
        ["Asked once more after", limits.hedgeAfterMs && duration(limits.hedgeAfterMs)],
        ["A later answer comes within", capabilities.supportsAsync ? duration(asyncSettings.timeoutSeconds * 1_000) : null],
        ["The old secret is valid until", grader.previousSecretUntil && html`<${Time} at=${grader.previousSecretUntil} />`],
        ["Made", html`<${Time} at=${grader.createdAt} />`],
      ]} />
      ${config && html`<details class="figures"><summary>Configuration</summary><pre class="body" tabindex="0" role="region" aria-label="Configuration">${JSON.stringify(config, null, 2)}</pre></details>`}
    <//>
  `;
}
