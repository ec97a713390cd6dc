// Labelling: one sample after the other, by keyboard, before anybody sees what the judge said.

import { html } from "../preact.js";
import { Inbox } from "./labelling/inbox.js";
import { Offers } from "./labelling/offers.js";

export const title = "Labelling";

const TRAINERS = ["admin", "training_operator"];

export default function Labelling({ path, query, me }) {
  const [deckId, graderId] = path;
  const mayAdjudicate = TRAINERS.includes(me.role);
  if (!deckId || !graderId) return html`<${Offers} query=${query} mayAdjudicate=${mayAdjudicate} />`;
  const task = mayAdjudicate && query.task === "adjudication" ? "adjudication" : "rating";
  return html`<${Inbox} key=${`${graderId}/${task}`} deckId=${deckId} graderId=${graderId} task=${task} mayAdjudicate=${mayAdjudicate} />`;
}
