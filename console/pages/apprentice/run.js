// One run: what was asked and answered, and which way it went.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { nanoDollars, score, words } from "../../format.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";
import { TaskPage } from "./frame.js";
import { answeredBy, marksOf, TONES } from "./runs.js";

const LIVE_SECONDS = 3;
const untilItEnds = ({ run }) => (run.state === "pending" || run.routing?.check === "due" ? LIVE_SECONDS : undefined);

export function Run({ name, id }) {
  const { data, problem, again } = useApi(`apprentice/runs/${encodeURIComponent(id)}`, {}, { every: untilItEnds });
  const run = data?.run;
  return html`
    <${TaskPage} name=${name} open="Runs" about=${html`<${Copy} text=${id} />`}>
      <${Trouble} problem=${problem} again=${again} />
      ${!run && !problem && html`<${FactsToCome} />`}
      ${run && html`
        <${Outcome} run=${run} />
        <${Json} title="Input" value=${run.input} />
        <${Json} title="Answer" value=${run.output} />`}
    <//>
  `;
}

function Outcome({ run }) {
  const { state, error, routing } = run;
  const marks = marksOf(routing);
  return html`
    <${Facts} facts=${[
      ["State", html`<${Badge} tone=${TONES[state]}>${state}<//>`],
      ["Why", error && `${words(error.code)}: ${error.message}`],
      ["Answered by", answeredBy(run)],
      ["Phase", routing?.phase],
      ["Marks", marks.length > 0 ? marks.join(", ") : null],
      ["Small model", routing?.localVersion && cameOf(routing.localVersion, routing.local, routing.localFault)],
      ["In shadow", routing?.shadowVersion && cameOf(routing.shadowVersion, routing.shadow, routing.shadowFault)],
      ["Agreement", routing && routing.pairs.length > 0 ? routing.pairs.map((pair) => `version ${pair.version}: ${score(pair.score)}${!pair.isDrawn ? ", no evidence" : pair.isSure ? "" : ", no evidence behind a gate"}`).join("; ") : null],
      ["Cost", routing && nanoDollars(routing.costNanoUsd)],
      ["Requests of the ledger", routing && routing.requestIds.length > 0 ? routing.requestIds.map((one) => html`<a key=${one} href=${link(["ledger", "requests", one])}><code>${one}</code></a> `) : null],
      ["Other models asked", routing && routing.additionalRequestIds.length > 0 ? routing.additionalRequestIds.map((one) => html`<a key=${one} href=${link(["ledger", "requests", one])}><code>${one}</code></a> `) : null],
      ["Version of the configuration", run.configurationVersion],
      ["Began", html`<${Time} at=${run.createdAt} />`],
      ["Ended", run.endedAt && html`<${Time} at=${run.endedAt} />`],
    ]} />
  `;
}

// What came of asking a version, and why it has no answer.
function cameOf(version, outcome, fault) {
  const why = fault ? ` (${words(fault)})` : "";
  return `version ${version}: ${outcome ?? "not asked yet"}${why}`;
}

function Json({ title, value }) {
  if (value === null || value === undefined) return null;
  return html`
    <${Section} title=${title}>
      <pre class="body text" tabindex="0" role="region" aria-label=${`${title} as JSON`}>${JSON.stringify(value, null, 2)}</pre>
    <//>
  `;
}
