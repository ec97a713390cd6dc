// What of a grader is published: by what tasks score, how far that is trusted, and what means it gives.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { LevelMark } from "../../components/levels.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, difference, percent, score, words } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { insufficientText, intervalText } from "./measures.js";
import { measuredAnew, StartRun } from "./run-dialogs.js";
import { acceptedOptions, useGrader } from "./version-choice.js";

const UNCALIBRATED = {
  not_judged: "It judged no sample of the held-out half that people rated. Have the held-out half graded, and publish again.",
  insufficient_labels: "People rated too few of the samples that it judged. Label more of the held-out half, and publish again.",
  other_prompt: "Ratings are of samples of another system prompt than the deck’s. Add samples of this one, label and grade their held-out half, and publish again.",
  no_interval: "κ is undefined, or has no interval.",
  below_threshold: "The lower end of κ’s interval is below the threshold.",
  drifted: "It was calibrated, and fresh labels speak against it. Have the labelled samples judged again, and publish again.",
};

export function Published({ deckId, id, query }) {
  const of = `decks/${deckId}/graders/${id}`;
  const which = useGrader(deckId, id);
  const [asked, setAsked] = useState(null);
  const { grader, isThere, problem, again } = which;
  const close = () => setAsked(null);
  const done = () => {
    close();
    again();
  };
  const actions = isThere
    ? html`<button type="button" class="primary" disabled=${grader.status !== "active"} onClick=${() => setAsked("publish")}>Publish version ${count(grader.version)}</button>`
    : null;
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Published" title=${grader?.name ?? "Grader"} about="By what tasks score; a deck that changes changes nothing there." actions=${actions}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        ${grader.published
          ? html`<${Snapshot} grader=${grader} /><${Calibration} grader=${grader} ask=${setAsked} />`
          : html`<${Empty} title="Nothing is published" command=${`autotune decks graders publish ${deckId} ${id}`}>Publishing makes a grader of the current version, by which tasks can score, with how far its judge agrees with people.<//>`}
        <${Means} of=${of} path=${["decks", deckId, "graders", id, "published"]} which=${which} query=${query} />`}
    <//>
    ${asked === "publish" && html`<${Publish} of=${of} grader=${grader} onDone=${done} onClose=${close} />`}
    ${asked === "again" && html`<${StartRun} deckId=${deckId} chosen=${measuredAnew(id)} onDone=${(run) => go(["decks", deckId, "runs", run.id])} onClose=${close} />`}
  `;
}

function Publish({ of, grader, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const publish = async () => {
    if (await act(() => send("POST", `${of}/publish`))) onDone();
  };
  return html`
    <${Confirm} title=${`Publish version ${grader.version} of ${grader.name}?`} yes="Publish" busy=${busy} problem=${problem} onYes=${publish} onClose=${onClose}>
      Tasks that name this grader score by it from now on. Its agreement with people is measured on the held-out half, and kept with it. By other labels than before that spends one more look: the lower end of κ is then a little lower.
    <//>
  `;
}

function Snapshot({ grader }) {
  const { published, version } = grader;
  return html`
    <${Facts} facts=${[
      ["Grader that tasks name", html`<a href=${link(["graders", published.graderId])}><code>${published.graderId}</code></a>`],
      ["Version", html`${count(published.version)} ${published.version === version ? html`<${Badge} tone="good">current<//>` : html`<${Badge} tone="warning">not the current one<//>`}`],
      ["Its version there", html`<code>${published.graderVersion}</code>`],
      ["Of the prompt’s version", count(published.deckVersion)],
      ["Published", html`<${Time} at=${published.at} />`],
    ]} />
  `;
}

function Calibration({ grader: { status, calibration, uncalibratedBecause }, ask }) {
  const columns = [
    { name: "level", title: "The judge says", width: 7, cell: ({ level }) => html`<${LevelMark} value=${level} />` },
    { name: "n", title: "Samples", width: 6, numeric: true, cell: ({ n }) => count(n) },
    { name: "hits", title: "Within one of people", width: 9, numeric: true, cell: ({ hits }) => count(hits) },
    { name: "confidence", title: "Confidence of a score", width: 9, numeric: true, cell: ({ hits, n }) => percent((hits + 1) / (n + 2)) },
  ];
  const suspended = calibration?.suspended;
  return html`
    <${Section} title="Calibration" actions=${status === "active" && html`<button type="button" onClick=${() => ask("again")}>Judge labelled samples again</button>`}>
      ${uncalibratedBecause && html`<p class="notice">Not calibrated. ${UNCALIBRATED[uncalibratedBecause] ?? words(uncalibratedBecause)}</p>`}
      ${suspended && html`<p class="notice">Suspended <${Time} at=${suspended.at} relative />: of ${count(suspended.labels)} fresh labels ${count(suspended.hits)} are within one level of the judge’s, where ${percent(suspended.predicted)} were predicted.</p>`}
      ${calibration && html`
        <${Stats}>
          <${Stat} label="Calibrated" value=${uncalibratedBecause || suspended ? "no" : "yes"} hint=${`from ${score(calibration.threshold)} up`} />
          <${Stat} label="Lower end of κ" value=${score(calibration.low)} hint=${`κ ${score(calibration.kappa)}${calibration.look === null ? "" : `, at look ${count(calibration.look)}`}`} />
          <${Stat} label="Ratings" value=${count(calibration.n)} hint=${calibration.choseVersion > 0 ? `${count(calibration.choseVersion)} chose this version` : "of the held-out half"} />
        <//>
        <${Facts} facts=${[
          ["Model that answered", calibration.model],
          ["Provider", calibration.provider],
          ["Measured", html`<${Time} at=${calibration.measuredAt} />`],
        ]} />
        <${Table} label="Hits by level" columns=${columns} rows=${calibration.byLevel} id=${({ level }) => level} />`}
    <//>
  `;
}

function Means({ of, path, which, query }) {
  const { version, model } = query;
  // Not in the address: whoever follows a link, or reads a page again, spends nothing.
  const [found, setFound] = useState(null);
  const { act, problem, busy } = useAct();
  const isShown = found !== null;
  const ask = async (chosen) => {
    const body = { version: chosen ? Number(chosen) : undefined, model };
    const answer = await act(() => send("POST", `${of}/means`, body));
    if (answer) setFound(answer.means);
  };
  const choose = (chosen) => {
    setFound(null); // each version has a look of its own
    go(path, { ...query, version: chosen });
  };
  return html`
    <${Section} title="Mean level of the held-out half">
      <p class="note">What people would say on average: by the judge alone, corrected by their labels, and by the labels alone. ${!isShown && "Looking at it spends the version’s look at the held-out labels, where it has none yet."}</p>
      <div class="filters">
        <${Field} label="Version" name="version" value=${version ?? ""} onInput=${choose} options=${acceptedOptions(which)} problem=${problem} />
      </div>
      <${Trouble} problem=${problem} />
      ${!isShown && html`<button type="button" disabled=${busy} onClick=${() => ask(version)}>Show the means</button>`}
      ${isShown && html`<${ThreeMeans} found=${found} />`}
    <//>
  `;
}

function ThreeMeans({ found }) {
  const insufficient = insufficientText(found);
  const used = (name) => (found.use === name && found.sufficient ? html` <${Badge} tone="good">to be used<//>` : "");
  const rows = [
    { id: "naive", name: "The judge alone", value: found.naive, told: "as far off as the judge", n: null },
    { id: "corrected", name: html`Corrected by labels${used("corrected")}`, value: found.corrected.value, told: intervalText(found.corrected, difference), n: found.corrected.n },
    { id: "labels_only", name: html`Labels alone${used("labels_only")}`, value: found.labelsOnly.value, told: intervalText(found.labelsOnly, difference), n: found.labelsOnly.n },
  ];
  const columns = [
    { name: "name", title: "Mean", width: 14 },
    { name: "value", title: "From -3 to 3", width: 7, numeric: true, cell: ({ value }) => difference(value) },
    { name: "told", title: `${percent(found.confidence)} interval`, width: 13 },
    { name: "n", title: "Samples", width: 6, numeric: true, cell: ({ n }) => count(n) },
  ];
  return html`
    ${insufficient && html`<p class="notice">${insufficient}</p>`}
    <${Table} label="Means" columns=${columns} rows=${rows} />
    <p class="hint">${count(found.labels)} samples have a drawn label, ${count(found.unlabelled)} a level of the judge alone.${found.cameLater > 0 && ` ${count(found.cameLater)} came when the labels had been drawn, and are in no figure.`}${found.unjudged > 0 && ` ${count(found.unjudged)} are not judged, so that labels alone count.`}${found.withoutTruth > 0 && ` ${count(found.withoutTruth)} drawn samples have no truth that counts.`} Weight of the judge in the corrected mean: ${percent(found.power)}.</p>
  `;
}
