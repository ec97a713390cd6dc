// One task: who answers, how far versions agree, what it costs and saves, and how long it takes yet.

import { useApi } from "../../api.js";
import { Choice } from "../../components/choice.js";
import { FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, percent } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { Agreement } from "./agreement.js";
import { PHASES, presentOf, REASONS, TaskPage } from "./frame.js";
import { Prospect } from "./prospect.js";
import { Spend } from "./spend.js";
import { Versions } from "./versions.js";

const LIVE_SECONDS = 30;
const SPANS = ["7", "30", "90"];

export function Task({ name, query }) {
  const days = SPANS.includes(query.days) ? query.days : "30";
  const path = `apprentice/tasks/${encodeURIComponent(name)}`;
  const { data, problem, again } = useApi(`${path}/report`, { days }, { every: LIVE_SECONDS });
  const estimate = useApi(`${path}/estimate`);
  const report = data?.report ?? null;
  const isThere = report !== null && (estimate.data !== null || estimate.problem !== null);
  return html`
    <${TaskPage} name=${name} open="Status" about=${report?.status.description ?? "\u00a0"}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`<${Report} name=${name} days=${days} report=${report} estimate=${estimate} />`}
    <//>
  `;
}

function Report({ name, days, report, estimate }) {
  const { status } = report;
  return html`
    ${status.alerts.length > 0 && html`
      <div class="notice" role="status">${status.alerts.map(({ kind, version, message }) => html`<div key=${`${kind}${version}`}>${message}</div>`)}</div>`}
    <${Figures} status=${status} />
    <${Agreement} report=${report} actions=${html`<${Choice} label="Time" options=${SPANS.map((span) => [span, `${span} days`])} value=${days} href=${(span) => link(["apprentice", name], { days: span })} />`} />
    <${Prospect} estimate=${estimate} />
    <${Versions} status=${status} />
    ${report.fields.length > 0 && html`<${Fields} fields=${report.fields} />`}
    ${report.gate !== null && html`<${Gate} report=${report} />`}
    <${Spend} report=${report} />
    <${Days} days=${report.days} />
  `;
}

function Figures({ status }) {
  const version = presentOf(status);
  const { savings } = status;
  const answers = status.serving === null ? PHASES[status.phase] : `version ${count(status.serving)}`;
  const range = savings.lowNanoUsd === null ? "no interval: too few paid answers" : `95 %: ${nanoDollars(savings.lowNanoUsd)} to ${nanoDollars(savings.highNanoUsd)}`;
  return html`
    <${Stats}>
      <${Stat} label="Phase" value=${count(status.phase)} hint=${`answered by ${answers}`} />
      <${Stat} label="Agrees at least" value=${percent(version?.agreement.bound ?? null)} hint=${version ? `${percent(version.agreement.mean)} of ${count(version.agreement.pairs)} pairs` : `${count(status.examples)} of ${count(status.examplesNeeded)} examples`} />
      <${Stat} label="Checked" value=${percent(version?.sampling.rate ?? null)} hint=${version ? REASONS[version.sampling.reason] : "no version is asked"} />
      <${Stat} label="Saved" value=${nanoDollars(savings.netNanoUsd)} hint=${`in ${count(status.savingsDays)} days; ${range}`} />
    <//>
  `;
}

// What a version behind a gate is sure of, and what becomes of the rest.
function Gate({ report: { gate, status } }) {
  const version = presentOf(status) ?? status.versions[0];
  const coverage = version?.coverage ?? null;
  const watched = coverage && `${percent(coverage.promised)} of the hold-out; an alarm begins below ${percent(coverage.least)}${coverage.checkedUntil === null ? "" : ", and one is on"}`;
  return html`
    <${Section} title="Gate">
      <${Stats}>
        <${Stat} label="Sure of" value=${percent(gate.coverage)} hint=${watched ?? (version ? "the version has no gate, and answers all" : "no version is asked")} />
        <${Stat} label="Escalated" value=${percent(gate.escalated)} hint="of all answers: the paid model's, as the version was unsure" />
        <${Stat} label="Agrees where it answers" value=${percent(gate.agreement)} hint="of what chance chose to check" />
        <${Stat} label="Asks for a confidence of" value=${percent(coverage?.confidence ?? null)} hint=${coverage ? `alarms of coverage: ${count(coverage.alarms)}` : "none was shown to suffice"} />
      <//>
    <//>
  `;
}

function Fields({ fields }) {
  const columns = [
    { name: "version", title: "Version", width: 5.5, cell: ({ version }) => count(version) },
    { name: "name", title: "Field", width: 14 },
    { name: "pairs", title: "Pairs", width: 5, numeric: true, cell: ({ pairs }) => count(pairs) },
    { name: "mean", title: "Same", width: 6, numeric: true, cell: ({ mean }) => percent(mean) },
  ];
  return html`<${Section} title="Agreement by field"><${Table} label="Agreement by field" columns=${columns} rows=${fields} id=${({ version, name }) => `${version} ${name}`} /><//>`;
}

function Days({ days }) {
  const columns = [
    { name: "day", title: "Day (UTC)", width: 7 },
    ...[["begun", "Runs"], ["local", "Small model"], ["remote", "Paid model"], ["refused", "Refused"], ["failed", "Failed"], ["pending", "Open"], ["escalated", "Escalated"], ["silent", "No answer"], ["unmonitored", "Unmonitored"], ["checksDone", "Checks"]].map(([name, title]) => (
      { name, title, width: title.length / 2 + 2.5, numeric: true, cell: ({ counts }) => count(counts[name]) })),
  ];
  return html`
    <${Section} title="Runs by day">
      <${Table} label="Runs by day" columns=${columns} rows=${days.toReversed()} id=${({ day }) => day} empty=${html`<p class="note">There were none in this time.</p>`} />
    <//>
  `;
}
