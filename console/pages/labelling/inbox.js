// What a person is to rate, one after the other.

import { useApi } from "../../api.js";
import { Empty } from "../../components/empty.js";
import { Meter } from "../../components/meter.js";
import { FactsToCome, Page } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { Rating } from "./rating.js";

const MOST_SKIPPED = 100;

export function Inbox({ deckId, graderId, task, mayAdjudicate }) {
  const of = `decks/${deckId}/graders/${graderId}`;
  const [skipped, setSkipped] = useState([]);
  const { data, problem, loading, again } = useApi(`${of}/feedback/next`, { task, skip: skipped });
  const progress = useApi(`${of}/feedback/progress`);
  const given = data?.next ?? null;
  const isThere = data && (progress.data || progress.problem);
  const next = () => {
    again();
    progress.again();
  };
  const skip = (id) => setSkipped((old) => [...old, id].slice(-MOST_SKIPPED));
  const path = ["labelling", deckId, graderId];
  return html`
    <${Page} title=${given?.graderName ?? "Labelling"} about=${task === "adjudication" ? "People are two levels or more apart: decide what counts as true, without having seen the judge’s level." : "What level does it have? What the judge said is hidden until you have said it."}>
      ${mayAdjudicate && html`<${Views} path=${path} task=${task} />`}
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        <${Progress} progress=${progress.data?.progress} left=${data.left} />
        ${given
          ? html`<${Rating} key=${given.sample.id} of=${of} given=${given} loading=${loading} onNext=${next} onSkip=${() => skip(given.sample.id)} onHold=${again} />`
          : html`<${Empty} title="Nothing is left for you">${skipped.length > 0 ? html`You skipped ${count(skipped.length)}. <button type="button" onClick=${() => setSkipped([])}>Take them up again</button>` : "Others may hold the rest; what they leave comes back within 15 minutes."}<//>`}`}
    <//>
  `;
}

function Views({ path, task }) {
  const tabs = [["rating", "Rate"], ["adjudication", "Adjudicate"]];
  return html`
    <nav class="tabs" aria-label="What is to be said">
      ${tabs.map(([value, text]) => html`<a key=${value} href=${link(path, { task: value === "rating" ? "" : value })} aria-current=${value === task ? "page" : undefined}>${text}</a>`)}
    </nav>
  `;
}

function Progress({ progress, left }) {
  if (!progress) return null;
  const half = (label, it) => html`
    <${Meter} label=${label} most=${it.samples} whole=${it.samples === 1 ? "1 sample" : `${count(it.samples)} samples`} parts=${[{ name: "rated", value: it.rated, text: count(it.rated) }]} />`;
  return html`
    <div class="meters labelled">${half("Held out", progress.holdout)}${half("Development", progress.development)}</div>
    <p class="hint">${count(left)} left for you, ${count(progress.toAdjudicate)} to adjudicate.</p>
  `;
}
