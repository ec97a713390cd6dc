// One sample: what was asked and answered, and what judges said of it, version beside version.

import { useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Conversation, Turn, textOf } from "../../components/conversation.js";
import { Copy } from "../../components/copy.js";
import { Empty } from "../../components/empty.js";
import { Facts, FactsToCome, Section } from "../../components/page.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { DeckPage } from "./frame.js";
import { Result } from "./result.js";
import { DeleteSample } from "./sample-dialogs.js";

export function Sample({ deckId, id, me }) {
  const { data, problem, again } = useApi(`decks/${deckId}/samples/${id}`);
  const results = useApi(`decks/${deckId}/samples/${id}/results`);
  const graders = useApi(`decks/${deckId}/graders`);
  const [isAsked, setAsked] = useState(false);
  const sample = data?.sample;
  const isThere = sample && [results, graders].every((one) => one.data !== null || one.problem !== null);
  return html`
    <${DeckPage} deckId=${deckId} open="Samples" title="Sample" about=${html`<${Copy} text=${id} />`}
      actions=${isThere ? html`<button type="button" onClick=${() => setAsked(true)}>Delete</button>` : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        <${About} deckId=${deckId} sample=${sample} />
        <${Section} title="Asked"><${Conversation} label="Messages" messages=${sample.request.messages} /><//>
        <${Section} title="Answered"><${Turn} role="assistant" text=${textOf(sample.response.choices[0].message)} /><//>
        <${Judged} deckId=${deckId} results=${results} graders=${graders.data?.graders ?? []} me=${me} />`}
    <//>
    ${isAsked && html`<${DeleteSample} deckId=${deckId} id=${id} onDone=${() => go(["decks", deckId, "samples"])} onClose=${() => setAsked(false)} />`}
  `;
}

function About({ deckId, sample }) {
  const other = sample.duplicateOf && html`<a href=${link(["decks", deckId, "samples", sample.duplicateOf])}><code>${sample.duplicateOf}</code></a>`;
  return html`
    <${Facts} facts=${[
      ["Your own id", sample.externalId],
      ["Half", sample.split === "holdout" ? html`<${Badge} tone="warning">held out<//>` : "development"],
      ["Model", sample.model],
      ["Provider", sample.provider],
      ["Came by", sample.collection],
      ["Version of the prompt", count(sample.deckVersion)],
      ["Characters", `${count(sample.inputCharacters)} asked, ${count(sample.outputCharacters)} answered`],
      ["Same texts as", other],
      ["Came", html`<${Time} at=${sample.createdAt} />`],
      ...Object.entries(sample.metadata ?? {}).map(([name, value]) => [name, String(value)]),
    ]} />
  `;
}

function Judged({ deckId, results, graders, me }) {
  const found = results.data?.results ?? [];
  const nameOf = (id) => graders.find((grader) => grader.id === id)?.name ?? id;
  const byGrader = [...new Set(found.map(({ graderId }) => graderId))];
  return html`
    <${Section} title="Judged">
      <${Trouble} problem=${results.problem} again=${results.again} />
      ${results.data && found.length === 0 && html`<${Empty} title="No judge has read it yet">Start a run to have it graded.<//>`}
      ${byGrader.map((id) => html`
        <div key=${id}>
          <div class="chart-head"><h3><a href=${link(["decks", deckId, "graders", id])}>${nameOf(id)}</a></h3></div>
          <div class="pairs">
            ${found.filter(({ graderId }) => graderId === id).map((result) => html`<${Result} key=${result.id} result=${result} me=${me} />`)}
          </div>
        </div>`)}
    <//>
  `;
}
