// Labelling: one sample after the other, by keyboard, before anybody sees what the judge said.

import { Empty } from "../components/empty.js";
import { Page } from "../components/page.js";
import { html } from "../preact.js";
import { Inbox } from "./labelling/inbox.js";

export const title = "Labelling";

const TRAINERS = ["admin", "training_operator"];

export default function Labelling({ path, query, me }) {
  const [deckId, graderId] = path;
  const mayAdjudicate = TRAINERS.includes(me.role);
  const task = mayAdjudicate && query.task === "adjudication" ? "adjudication" : "rating";
  if (deckId && graderId) {
    return html`<${Inbox} key=${`${graderId}/${task}`} deckId=${deckId} graderId=${graderId} task=${task} mayAdjudicate=${mayAdjudicate} />`;
  }
  return html`
    <${Page} title=${title} about="You say what level a sample has; only then you see what the judge said.">
      <${Empty} title="Choose what to label">
        ${mayAdjudicate ? html`Each grader of a <a href="#/decks">deck</a> has its samples to label. Its address here is a link that you can send to reviewers.` : "Whoever asked you to label has a link to a grader’s samples; open it while you are signed in here."}
      <//>
    <//>
  `;
}
