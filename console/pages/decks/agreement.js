// How far a grader agrees with people, by version, beside how far people agree among themselves.

import { send, useAct, useApi } from "../../api.js";
import { Field } from "../../components/field.js";
import { LevelMark } from "../../components/levels.js";
import { FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, difference, percent, score } from "../../format.js";
import { html, useEffect, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { agreementText, biasText, insufficientText, intervalText, undefinedText } from "./measures.js";
import { acceptedOptions, acceptedVersions, useGrader } from "./version-choice.js";

const VERSIONS_SHOWN = 5;

/** Reads only what spends no look, until somebody asks for more. */
export function Agreement({ deckId, id, query }) {
  const path = ["decks", deckId, "graders", id, "agreement"];
  const of = `decks/${deckId}/graders/${id}`;
  const which = useGrader(deckId, id);
  const deck = useApi(`decks/${deckId}`);
  const edits = useApi(`${of}/edits`, { limit: 1 });
  const [asked, setAsked] = useState([]);
  const noted = deck.data?.deck.agreement.find(({ graderId }) => graderId === id);
  // By its number: what is the current version when somebody comes back is another question.
  const version = query.version ? Number(query.version) : which.grader?.version;
  const isFree = asked.includes(version) || (noted?.version === version && noted?.n > 0);
  const { data, problem, again } = useApi(isFree ? `${of}/agreement` : null, { version });
  // What was free while nothing was judged may ask for a look by now.
  const isUnread = !isFree || problem?.status === 409;
  const found = isUnread ? null : data?.agreement;
  const onRead = () => {
    setAsked((old) => [...old, version]);
    if (isFree) again();
  };
  useEffect(() => {
    if (!found) return;
    setAsked((old) => [...old, found.version, ...found.looked]); // these have their look
    deck.again();
    edits.again();
  }, [found]);
  const before = [which, deck, edits];
  const broken = before.find((one) => one.problem);
  const isKnown = which.isThere && deck.data && edits.data;
  const isThere = isKnown && (found || isUnread || problem);
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Agreement" title=${which.grader?.name ?? "Grader"} about="On drawn samples that are held out: nobody looked at them to change the rubric.">
      <${Trouble} problem=${broken?.problem ?? (isUnread ? null : problem)} again=${broken ? broken.again : again} />
      ${!isThere && !broken && html`<${FactsToCome} />`}
      ${isThere && html`
        <div class="filters">
          <${Field} label="Version" name="version" value=${query.version ?? ""} onInput=${(chosen) => go(path, { version: chosen })} options=${acceptedOptions(which)} />
        </div>
        ${isUnread && html`<${Unread} of=${of} version=${version} noted=${noted} looks=${edits.data.looks} onRead=${onRead} />`}
        ${found && html`
          <${Claim} found=${found} />
          <${ByVersion} of=${of} path=${path} found=${found} which=${which} />
          <${People} ceiling=${found.ceiling} />
          <${Bias} found=${found} />
          <${Applies} found=${found} />`}`}
    <//>
  `;
}

// What is known for nothing, and what more would cost.
function Unread({ of, version, noted, looks, onRead }) {
  const { act, problem, busy } = useAct();
  // Not by an address: whoever follows a link, or reads a page again, spends nothing.
  const read = async () => {
    if (await act(() => send("POST", `${of}/agreement`, { version }))) onRead();
  };
  return html`
    <${Section} title=${`Version ${version} is not read yet`}>
      ${noted && html`<p class="note">κ of version ${count(noted.version)} was ${agreementText(noted)}, of ${count(noted.n)} pairs, when it was read <${Time} at=${noted.at} relative />.</p>`}
      <p>To read how far it agrees with people spends a look at the held-out labels, where it has none yet: it is counted for good. ${looks === 0 ? "The first costs nothing" : html`${count(looks)} ${looks === 1 ? "is" : "are"} counted already`}; each one after it makes intervals wider.</p>
      <${Trouble} problem=${problem} />
      <button type="button" class="primary" disabled=${busy} onClick=${read}>Read it, and spend a look</button>
    <//>
  `;
}

function Claim({ found }) {
  const { kappa, meanBias } = found;
  const insufficient = insufficientText(found);
  const isDefined = kappa.value !== null;
  return html`
    ${insufficient && html`<p class="notice">${insufficient}</p>`}
    <${Stats}>
      <${Stat} label="κ with people" value=${isDefined ? score(kappa.value) : "undefined"} hint=${isDefined ? `${percent(kappa.confidence)} interval` : undefinedText(kappa)} />
      <${Stat} label="Its interval" value=${isDefined ? intervalText(kappa) : "none"} hint="by groups of samples" />
      <${Stat} label="Pairs" value=${count(found.n)} hint=${`in ${count(found.groups)} groups, of ${count(found.labels)} labels`} />
      <${Stat} label="Coverage" value=${percent(found.coverage)} hint="of labels with a level" />
      <${Stat} label="Look" value=${found.look === null ? "none" : count(found.look)} hint=${`${count(found.looks)} spent by all versions`} />
      <${Stat} label="Bias" value=${meanBias.value === null ? "undefined" : difference(meanBias.value)} hint=${meanBias.value === null ? "nothing to compare yet" : intervalText(meanBias, difference)} />
      <${Stat} label="Same level" value=${percent(found.percentAgreement)} hint="decides nothing" />
    <//>
    <p class="note">
      <span class="told">of samples with version ${count(found.deckVersion)} of the system prompt</span><span class="told">${count(found.outsideCommonest)} outside the commonest level</span><span class="told">${count(found.toAdjudicate)} to adjudicate</span><span class="told">${count(found.choseVersion)} chose this version</span><span class="told">${count(found.skipped)} left by all</span><span class="told">${count(found.cameLater)} came after the last label</span><span class="told">${count(found.notBlind)} not blind</span><span class="told">${count(found.otherCriteria)} labelled by other criteria</span><span class="told">${count(found.failed)} failed</span><span class="told">${count(found.ungraded)} not judged</span>
    </p>
  `;
}

// Others than those that were looked at wait for somebody who spends a look on them.
function ByVersion({ of, path, found: { version: shown, looked, ceiling }, which }) {
  const others = looked.filter((version) => version !== shown).toReversed();
  const numbers = [shown, ...others].slice(0, VERSIONS_SHOWN).sort((one, other) => other - one);
  // As many hooks each time, whatever there is.
  const asked = Array.from({ length: VERSIONS_SHOWN }, (_, index) => useApi(numbers[index] ? `${of}/agreement` : null, { version: numbers[index] }));
  const wanted = asked.slice(0, numbers.length);
  // An edit that is not accepted says itself what it changes: its version is not read here.
  const rest = acceptedVersions(which).filter((one) => one !== shown && !looked.includes(one)).length;
  const columns = [
    { name: "version", title: "Version", width: 5.5, cell: ({ version }) => html`<a href=${link(path, { version })}>${version}</a>` },
    { name: "look", title: "Look", width: 4.5, numeric: true, cell: ({ look }) => count(look) },
    { name: "kappa", title: "κ", width: 15, cell: ({ kappa }) => (kappa.value === null ? undefinedText(kappa) : html`${score(kappa.value)} <span class="why">${intervalText(kappa)}</span>`) },
    { name: "bar", title: "−1 to 1", width: 12, cell: ({ kappa }) => html`<${KappaBar} kappa=${kappa} ceiling=${ceiling.leaveOneOutKappa} />` },
    { name: "n", title: "Pairs", width: 5, numeric: true, cell: ({ n }) => count(n) },
    { name: "coverage", title: "Coverage", width: 6, numeric: true, cell: ({ coverage }) => percent(coverage) },
    { name: "bias", title: "Bias", width: 6, numeric: true, cell: ({ meanBias }) => (meanBias.value === null ? "undefined" : difference(meanBias.value)) },
  ];
  const rows = wanted.every(({ data }) => data) ? wanted.map(({ data }) => data.agreement) : null;
  return html`
    <${Section} title="By version">
      <${Table} label="Agreement by version" columns=${columns} rows=${rows} id=${({ version }) => version} isOpen=${({ version }) => version === shown}
        problem=${wanted.find(({ problem }) => problem)?.problem} skeletons=${wanted.length} />
      ${rest > 0 && html`<p class="hint">${count(rest)} ${rest === 1 ? "version was" : "versions were"} not looked at. To read one spends a look at the held-out labels, and each look makes intervals wider.</p>`}
      ${ceiling.leaveOneOutKappa !== null && html`<p class="hint">The dashed line is how far one person agrees with the others: ${score(ceiling.leaveOneOutKappa)}.</p>`}
    <//>
  `;
}

function KappaBar({ kappa, ceiling }) {
  const at = (value) => `${50 * (value + 1)}%`;
  if (kappa.value === null) return html`<span class="nothing">–</span>`;
  return html`
    <div class="kappa-bar" aria-hidden="true">
      ${kappa.low !== null && html`<span style=${{ left: at(kappa.low), width: `${50 * (kappa.high - kappa.low)}%` }}></span>`}
      <i style=${{ left: at(kappa.value) }}></i>
      ${ceiling !== null && html`<b style=${{ left: at(ceiling) }}></b>`}
    </div>`;
}

function People({ ceiling }) {
  const { alpha } = ceiling;
  const columns = [
    { name: "rater", title: "Person", width: 14 },
    { name: "value", title: "κ with the others", width: 12, cell: (one) => (one.value === null ? undefinedText(one) : score(one.value)) },
    { name: "n", title: "Pairs", width: 6, numeric: true, cell: (one) => count(one.n) },
  ];
  return html`
    <${Section} title="How far people agree">
      <${Stats}>
        <${Stat} label="α of people" value=${alpha.value === null ? "undefined" : score(alpha.value)} hint=${alpha.value === null ? undefinedText(alpha) : "Krippendorff’s, of intervals"} />
        <${Stat} label="One with the others" value=${ceiling.leaveOneOutKappa === null ? "undefined" : score(ceiling.leaveOneOutKappa)} hint="κ: compare the judge’s with it" />
        <${Stat} label="People" value=${count(ceiling.raters)} hint=${`on ${count(ceiling.samples)} shared samples`} />
      <//>
      ${ceiling.byRater.length > 0 && html`<${Table} label="People" columns=${columns} rows=${ceiling.byRater} id=${({ rater }) => rater} />`}
    <//>
  `;
}

function Bias({ found }) {
  const columns = [
    { name: "level", title: "The judge says", width: 8, cell: ({ level }) => html`<${LevelMark} value=${level} />` },
    { name: "value", title: "Too high by", width: 16, cell: (one) => (one.n === 0 ? html`<span class="nothing">–</span>` : biasText(one)) },
    { name: "n", title: "Samples", width: 6, numeric: true, cell: (one) => count(one.n) },
  ];
  return html`
    <${Section} title="Bias by the judge’s level">
      <${Table} label="Bias by level" columns=${columns} rows=${found.biasByLevel} id=${({ level }) => level} />
    <//>
  `;
}

function Applies({ found }) {
  const { applicability: it, development } = found;
  const rows = [
    { id: "applies", name: "it applies", judge: it.bothApply, abstains: it.onlyJudgeAbstains },
    { id: "not", name: "it does not apply", judge: it.onlyTruthDoesNotApply, abstains: it.neitherApplies },
  ];
  const columns = [
    { name: "name", title: "People say", width: 10 },
    { name: "judge", title: "Judge gives a level", width: 10, numeric: true, cell: (row) => count(row.judge) },
    { name: "abstains", title: "Judge abstains", width: 10, numeric: true, cell: (row) => count(row.abstains) },
  ];
  const { kappa } = development;
  return html`
    <${Section} title="Whether it applies"><${Table} label="Whether it applies" columns=${columns} rows=${rows} /><//>
    <${Section} title="Development half">
      <p class="note">For choosing what to try; it backs no claim. κ ${kappa.value === null ? undefinedText(kappa) : `${score(kappa.value)}, ${intervalText(kappa)}`}, ${count(kappa.n)} pairs in ${count(development.groups)} groups.</p>
    <//>
  `;
}
