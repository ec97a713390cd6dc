// One run of a deck: how far it is, and what it has cost.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Meter } from "../../components/meter.js";
import { Shares } from "../../components/shares.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, percent, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { DeckPage } from "./frame.js";
import { Proposed } from "./propose-graders.js";
import { CancelRun } from "./run-dialogs.js";

const whileRunning = ({ run }) => (run.status === "running" ? 3 : undefined);

export function Run({ deckId, id }) {
  const { data, problem, again } = useApi(`decks/${deckId}/runs/${id}`, {}, { every: whileRunning });
  const graders = useApi(`decks/${deckId}/graders`);
  const [isAsked, setAsked] = useState(false);
  const run = data?.run;
  const isThere = run && (graders.data || graders.problem);
  const mayCancel = run?.status === "running" && !run.cancelRequestedAt;
  return html`
    <${DeckPage} deckId=${deckId} open="Runs" title="Run" about=${html`<${Copy} text=${id} />`}
      actions=${isThere ? mayCancel && html`<button type="button" onClick=${() => setAsked(true)}>Cancel</button>` : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && run.proposal && html`<${Proposed} run=${run} />`}
      ${isThere && !run.proposal && html`<${Told} deckId=${deckId} run=${run} graders=${graders.data?.graders ?? []} />`}
    <//>
    ${isAsked && html`<${CancelRun} run=${run} onDone=${() => { setAsked(false); again(); }} onClose=${() => setAsked(false)} />`}
  `;
}

function Told({ deckId, run, graders }) {
  const { repeatability: again } = run;
  const nameOf = (id) => graders.find((grader) => grader.id === id)?.name ?? id;
  const state = run.cancelRequestedAt && run.status === "running" ? "it is being canceled" : run.stoppedBecause && `because of its ${run.stoppedBecause}`;
  return html`
    ${run.waitingBecause && html`<p class="notice">It waits: ${words(run.waitingBecause)}. It goes on by itself.</p>`}
    <${Stats}>
      <${Stat} label="Status" value=${html`<${Badge}>${run.status}<//>`} hint=${state || undefined} />
      <${Stat} label="Cost" value=${nanoDollars(run.costNanoUsd)} hint=${`probably ${nanoDollars(run.estimateNanoUsd)} in all`} />
      <${Stat} label="Samples" value=${count(run.samples)} hint=${run.split ? `of the ${run.split} half` : undefined} />
      <${Stat} label="There before" value=${count(run.counts.known)} hint="not paid again" />
    <//>
    <${Shares} label="Judgements" counts=${run.counts} />
    <${Meter} label="Cost" most=${run.capNanoUsd} whole=${`at most ${nanoDollars(run.capNanoUsd)}`} parts=${[
      { name: "paid", value: run.costNanoUsd, text: nanoDollars(run.costNanoUsd) },
      { name: "under way", value: run.reservedNanoUsd, text: nanoDollars(run.reservedNanoUsd), tone: "plain" },
    ]} />
    ${again && html`
      <${Section} title="Does the judge agree with itself?">
        <${Stats}>
          <${Stat} label="Compared" value=${count(again.compared)} hint="pairs that have levels" />
          <${Stat} label="Same level" value=${count(again.same)} hint=${again.compared ? percent(again.same / again.compared) : undefined} />
          <${Stat} label="Within one" value=${count(again.withinOne)} hint=${again.compared ? percent(again.withinOne / again.compared) : undefined} />
        <//>
      <//>`}
    <${Section} title="Graders">
      <ul class="plain-list">
        ${run.graders.map(({ graderId, version }) => html`
          <li key=${graderId}><a href=${link(["decks", deckId, "graders", graderId, "results"], { version })}>${nameOf(graderId)}, version ${version}</a></li>`)}
      </ul>
    <//>
    <${Section} title="When">
      <${Facts} facts=${[
        ["Started", html`<${Time} at=${run.createdAt} />`],
        ["Ended", run.endedAt && html`<${Time} at=${run.endedAt} />`],
        ["By", html`<code>${run.createdBy}</code>`],
      ]} />
    <//>
  `;
}
