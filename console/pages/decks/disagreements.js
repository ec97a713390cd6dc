// Where a judge and people differ, of the development half: the person beside the judge.

import { send, useAct, useApi } from "../../api.js";
import { FormDialog } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { LEVELS, LevelMark } from "../../components/levels.js";
import { Matrix } from "../../components/matrix.js";
import { FactsToCome, Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Trouble } from "../../components/trouble.js";
import { count, level } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { GraderPage } from "./frame.js";
import { useGrader, versionOptions } from "./version-choice.js";

export function Disagreements({ deckId, id, query, me }) {
  const path = ["decks", deckId, "graders", id, "disagreements"];
  const of = `decks/${deckId}/graders/${id}`;
  const { version, about, truth, score, token } = query;
  const which = useGrader(deckId, id);
  const { data, problem, again } = useApi(`${of}/disagreements`, { version, about, truth, score, nextToken: token, limit: 10 });
  const [asked, setAsked] = useState(null);
  const isThere = which.isThere && data;
  const told = which.problem ?? problem;
  const isCell = truth !== undefined && score !== undefined;
  const changed = () => {
    setAsked(null);
    again();
  };
  return html`
    <${GraderPage} deckId=${deckId} id=${id} open="Disagreements" title=${which.grader?.name ?? "Grader"} about="Of the development half only: what is held out is shown to nobody. Whoever reads here has seen what the judge said.">
      <${Trouble} problem=${told} again=${problem ? again : which.again} />
      ${!isThere && !told && html`<${FactsToCome} />`}
      ${isThere && html`
        <div class="filters">
          <${Field} label="Version" name="version" value=${version ?? ""} onInput=${(chosen) => go(path, { version: chosen, about })} options=${versionOptions(which)} />
          <${Field} label="They differ on" name="about" value=${about ?? ""} onInput=${(chosen) => go(path, { version, about: chosen })} options=${[["", "the level"], ["applicability", "whether it applies"]]} />
        </div>
        <${Matrix} label="How often people and judge say which level" counts=${data.confusion} chosen=${isCell ? [Number(truth), Number(score)] : undefined}
          href=${(row, column) => link(path, { version, truth: row, score: column })} />
        <p class="note">It applies by people alone on ${count(data.applicability.onlyJudgeAbstains)}, by the judge alone on ${count(data.applicability.onlyTruthDoesNotApply)}, by neither on ${count(data.applicability.neitherApplies)}.</p>
        <${Section} title=${isCell ? `People ${level(Number(truth))}, judge ${level(Number(score))}: ${count(data.total)}` : `They differ on ${about ? "whether it applies to " : ""}${count(data.total)}`}
          actions=${isCell && html`<a class="button" href=${link(path, { version })}>All disagreements</a>`}>
          ${data.disagreements.length === 0 && html`<${Empty} title="Nothing here">Label samples of the development half, and have them graded.<//>`}
          ${data.disagreements.map((one) => html`<${Difference} key=${one.sampleId} deckId=${deckId} id=${id} one=${one} me=${me} ask=${setAsked} />`)}
          <${Pager} path=${path} query=${query} nextToken=${data.nextToken} />
        <//>`}
    <//>
    ${asked && html`<${Correct} of=${of} one=${asked} me=${me} onDone=${changed} onClose=${() => setAsked(null)} />`}
  `;
}

function Difference({ deckId, id, one, me, ask }) {
  const own = one.ratings.find(({ rater }) => rater === me.principalId);
  return html`
    <article class="disagreement" aria-label=${`Sample ${one.sampleId}`}>
      <p class="text-head"><a href=${link(["decks", deckId, "samples", one.sampleId])}><code>${one.sampleId}</code></a></p>
      <div class="pairs">
        <div><p class="text-head">Asked</p><pre class="body" tabindex="0" role="region" aria-label="Asked">${one.inputExcerpt}</pre></div>
        <div><p class="text-head">Answered</p><pre class="body" tabindex="0" role="region" aria-label="Answered">${one.outputExcerpt}</pre></div>
      </div>
      <div class="pairs">
        <div class="said-by">
          <h3>People: <${LevelMark} value=${one.truth} /></h3>
          ${one.ratings.map((rating) => html`
            <p key=${rating.rater}>${rating.rater}: <${LevelMark} value=${rating.score} /> ${one.explanations[rating.rater] ?? ""}${rating.otherCriteria ? " (by other criteria)" : ""}</p>`)}
        </div>
        <div class="said-by">
          <h3>Judge: <${LevelMark} value=${one.score} /></h3>
          <p>${one.result.explanation}</p>
        </div>
      </div>
      <div class="dialog-actions">
        ${own && html`<button type="button" onClick=${() => ask(one)}>I was wrong</button>`}
        <a class="button" href=${link(["decks", deckId, "graders", id, "edit"], one.truth === null ? {} : { sample: one.sampleId, level: one.truth })}>The rubric is wrong</a>
      </div>
    </article>
  `;
}

function Correct({ of, one, me, onDone, onClose }) {
  const own = one.ratings.find(({ rater }) => rater === me.principalId);
  const [score, setScore] = useState(own.score === null ? "" : String(own.score));
  const [explanation, setExplanation] = useState(one.explanations[me.principalId] ?? "");
  const { act, problem, busy } = useAct();
  const correct = async () => {
    const said = score === "" ? { doesNotApply: true } : { score: Number(score) };
    if (await act(() => send("POST", `${of}/feedback`, { sampleId: one.sampleId, explanation, ...said }))) onDone();
  };
  return html`
    <${FormDialog} title="Correct your rating" submit="Correct" busy=${busy} problem=${problem} onSubmit=${correct} onClose=${onClose}>
      <p class="hint">Your first rating stays readable; the correction is marked as given after the judge’s.</p>
      <${Field} label="Level" name="score" value=${score} onInput=${setScore} problem=${problem} options=${[...LEVELS.map((it) => [String(it), level(it)]), ["", "does not apply"]]} />
      <${Field} label="Why" name="explanation" rows=${3} value=${explanation} onInput=${setExplanation} problem=${problem} />
    <//>
  `;
}
