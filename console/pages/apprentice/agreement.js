// How far the present version agrees: by day, with its bound and the thresholds that it is held to.

import { LineChart } from "../../components/line-chart.js";
import { Section } from "../../components/page.js";
import { count, percent } from "../../format.js";
import { html } from "../../preact.js";
import { presentOf } from "./frame.js";

export function Agreement({ report, actions }) {
  const { status, days } = report;
  const version = presentOf(status) ?? status.versions[0];
  const seen = version ? days.map(({ day, versions }) => ({ day, own: versions.find((one) => one.version === version.number) })).filter(({ own }) => own) : [];
  const { graduation, coaching, emergency } = status.thresholds;
  const always = (value) => seen.map(() => value);
  return html`
    <${Section} title="Agreement" actions=${actions}>
      ${seen.length === 0 && html`<p class="note">No answers of a version and of the paid model were compared in this time.</p>`}
      ${seen.length > 0 && html`
        <${LineChart} label=${`Agreement of version ${count(version.number)} by day`} starts=${seen.map(({ day }) => `${day}T00:00:00Z`)} show=${percent} when=${dayOf}
          series=${[
            { name: "of the day", values: seen.map(({ own }) => own.mean), tone: "accent" },
            { name: "at least, in all", values: seen.map(({ own }) => own.bound), tone: "good" },
            { name: "to graduate", values: always(graduation), tone: "plain" },
            { name: "alarm", values: always(coaching), tone: "warning" },
            { name: "emergency", values: always(emergency), tone: "trouble" },
          ]} />
        <p class="note after">${said(version)}</p>`}
    <//>
  `;
}

const dayOf = (start) => start.slice(0, "2026-11-27".length);

function said({ number, agreement, window }) {
  const { mean, pairs, bound, confidence, evidence, evidenceNeeded } = agreement;
  const sure = `${percent(mean)} of ${count(pairs)} pairs since the last alarm agree; on average it is more than ${percent(bound)}, with a probability of ${percent(confidence)}, however often you look`;
  const graduates = `Evidence is ${count(evidence)} of the ${count(evidenceNeeded)} that it takes to graduate`;
  const last = window.mean === null ? "" : ` Of its last ${count(window.pairs)} pairs ${percent(window.mean)} agree, ${window.trend}; their bound after Wilson, ${percent(window.bound)}, says how much is checked and decides nothing.`;
  return `Version ${count(number)}: ${sure}. ${graduates}.${last}`;
}
