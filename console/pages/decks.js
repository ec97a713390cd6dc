// Decks: a system prompt with its samples, rubrics that grade them, and how far these agree with people.

import { html } from "../preact.js";
import { Agreement } from "./decks/agreement.js";
import { Deck } from "./decks/deck.js";
import { Disagreements } from "./decks/disagreements.js";
import { Grader } from "./decks/grader.js";
import { ProposeEdit } from "./decks/edit-form.js";
import { Fix } from "./decks/fix.js";
import { EditGrader, NewGrader } from "./decks/grader-form.js";
import { List } from "./decks/list.js";
import { NewDeck } from "./decks/new-deck.js";
import { Patterns } from "./decks/patterns.js";
import { PromptEdits } from "./decks/prompt-edits.js";
import { ProposeGraders } from "./decks/propose-graders.js";
import { Published } from "./decks/published.js";
import { Results } from "./decks/results.js";
import { Run } from "./decks/run.js";
import { Runs } from "./decks/runs.js";
import { Sample } from "./decks/sample.js";
import { Samples } from "./decks/samples.js";
import { Unmatched, UnmatchedPrompt } from "./decks/unmatched.js";
import { Versions } from "./decks/versions.js";

const OF_DECK = { samples: { List: Samples, One: Sample }, runs: { List: Runs, One: Run }, versions: { List: Versions }, "prompt-edits": { List: PromptEdits }, propose: { List: ProposeGraders } };
const OF_GRADER = { agreement: Agreement, disagreements: Disagreements, edit: EditGrader, fix: Fix, patterns: Patterns, propose: ProposeEdit, published: Published, results: Results };

export const title = "Decks";

export default function Decks({ path, query, me }) {
  const [deckId, part, id, view] = path;
  if (!deckId) return html`<${List} query=${query} />`;
  if (deckId === "new") return html`<${NewDeck} />`;
  if (deckId === "unmatched") return part ? html`<${UnmatchedPrompt} key=${part} id=${part} />` : html`<${Unmatched} />`;
  if (part === "graders" && id === "new") return html`<${NewGrader} key=${deckId} deckId=${deckId} />`;
  if (part === "graders" && id) {
    const View = OF_GRADER[view] ?? Grader;
    return html`<${View} key=${`${id}/${view}`} deckId=${deckId} id=${id} query=${query} me=${me} />`;
  }
  const { List: All, One } = OF_DECK[part] ?? { List: Deck };
  if (id && One) return html`<${One} key=${id} deckId=${deckId} id=${id} query=${query} me=${me} />`;
  return html`<${All} key=${`${deckId}/${part}`} deckId=${deckId} query=${query} me=${me} />`;
}
