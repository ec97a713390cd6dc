// What the views of a deck, and those of one of its graders, have in common: the head and the way between them.

import { Page } from "../../components/page.js";
import { Tabs } from "../../components/tabs.js";
import { html } from "../../preact.js";
import { link } from "../../router.js";

/** A view of a deck: `open` is the title of its tab; the rest as of `Page`. */
export function DeckPage({ deckId, open, title, about, actions, children }) {
  const tabs = [
    [["decks", deckId], "Deck"],
    [["decks", deckId, "samples"], "Samples"],
    [["decks", deckId, "runs"], "Runs"],
    [["decks", deckId, "versions"], "Versions"],
    [["decks", deckId, "prompt-edits"], "Prompt edits"],
  ];
  return html`
    <${Page} title=${title} about=${about} actions=${actions}>
      <${Tabs} label="Parts of the deck" tabs=${tabs} open=${open} />
      ${children}
    <//>
  `;
}

/** A view of a grader of a deck. */
export function GraderPage({ deckId, id, open, title, about, actions, children }) {
  const of = ["decks", deckId, "graders", id];
  const tabs = [
    [of, "Rubric"],
    [[...of, "results"], "Results"],
    [[...of, "agreement"], "Agreement"],
    [[...of, "disagreements"], "Disagreements"],
    [[...of, "patterns"], "Patterns"],
    [[...of, "fix"], "Fix"],
    [[...of, "published"], "Published"],
  ];
  return html`
    <${Page} title=${title} about=${html`${about} <a href=${link(["decks", deckId])}>To its deck</a>`} actions=${actions}>
      <${Tabs} label="Parts of the grader" tabs=${tabs} open=${open} />
      ${children}
    <//>
  `;
}
