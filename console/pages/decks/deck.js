// One deck: its prompt, its graders with how far they agree with people, and the next useful step.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Copy } from "../../components/copy.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Facts, FactsToCome, Section, Stat, Stats } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count, nanoDollars, percent } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";
import { DeckPage } from "./frame.js";
import { agreementText } from "./measures.js";
import { leastFar, nextStep } from "./next-step.js";
import { StartRun } from "./run-dialogs.js";

export function Deck({ deckId }) {
  const { data, problem, again } = useApi(`decks/${deckId}`);
  const graders = useApi(`decks/${deckId}/graders`);
  const runs = useApi(`decks/${deckId}/runs`, { limit: 1 });
  const [asked, setAsked] = useState(null);
  const unmatched = useApi("unmatched-prompts");
  const deck = data?.deck;
  const active = deck && graders.data ? leastFar(graders.data.graders, deck.agreement) : undefined;
  const progress = useApi(active ? `decks/${deckId}/graders/${active.id}/feedback/progress` : null);
  const parts = [graders, runs, unmatched, ...(active ? [progress] : [])];
  const isThere = deck && parts.every((one) => one.data !== null || one.problem !== null);
  const close = () => setAsked(null);
  const changed = () => {
    close();
    again();
  };
  const actions = isThere
    ? html`
      <button type="button" class="primary" onClick=${() => setAsked("grade")}>Grade samples</button>
      ${deck.status !== "active" && html`<button type="button" onClick=${() => setAsked("active")}>Activate</button>`}
      ${deck.status === "active" && html`<button type="button" onClick=${() => setAsked("archived")}>Archive</button>`}`
    : null;
  return html`
    <${DeckPage} deckId=${deckId} open="Deck" title=${deck?.name ?? "Deck"} about="A system prompt in versions, samples of what a model answered to it, and graders that judge these." actions=${actions}>
      <${Trouble} problem=${problem} again=${again} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`
        <${Figures} deck=${deck} runs=${runs} />
        <${NextStep} deck=${deck} graders=${graders.data?.graders ?? []} runs=${runs.data?.runs ?? []} active=${active} rated=${progress.data?.progress.holdout} />
        <${Graders} deckId=${deckId} graders=${graders} measured=${deck.agreement} />
        <${Prompt} deck=${deck} unmatched=${unmatched} onDelete=${() => setAsked("delete")} />`}
    <//>
    ${asked === "grade" && html`<${StartRun} deckId=${deckId} onDone=${(run) => go(["decks", deckId, "runs", run.id])} onClose=${close} />`}
    ${(asked === "active" || asked === "archived") && html`<${ChangeStatus} deck=${deck} status=${asked} onDone=${changed} onClose=${close} />`}
    ${asked === "delete" && html`<${DeleteDeck} deck=${deck} onClose=${close} />`}
  `;
}

function Figures({ deck, runs }) {
  return html`
    <${Trouble} problem=${runs.problem} again=${runs.again} />
    <${Stats}>
      <${Stat} label="Status" value=${html`<${Badge}>${deck.status}<//>`} hint=${html`changed <${Time} at=${deck.updatedAt} relative />`} />
      <${Stat} label="Samples" value=${count(deck.samples)} hint=${`${percent(deck.holdoutShare)} of groups held out`} />
      <${Stat} label="Graders" value=${count(deck.graders)} />
      <${Stat} label="Spent" value=${nanoDollars(deck.spentNanoUsd)} hint="by runs that have ended" />
    <//>
  `;
}

function NextStep({ active, graders, ...known }) {
  const step = nextStep({ active, graders, ...known });
  if (step === null) return null;
  const isOfOne = step.grader && graders.filter(({ status }) => status === "active").length > 1;
  return html`<p class="waits">Next${isOfOne ? `, for ${step.grader.name}` : ""}: <a href=${link(step.to)}>${step.what}</a></p>`;
}

function Graders({ deckId, graders, measured }) {
  const columns = [
    { name: "name", title: "Name", width: 12 },
    { name: "status", title: "Status", width: 7, cell: (grader) => html`<${Badge}>${grader.status}<//>` },
    { name: "version", title: "Version", width: 5.5, numeric: true, cell: (grader) => count(grader.version) },
    { name: "kappa", title: "κ with people", width: 19, cell: (grader) => html`<${Agrees} grader=${grader} found=${measured.find(({ graderId }) => graderId === grader.id)} />` },
    { name: "label", title: "", width: 6, cell: (grader) => html`<a href=${link(["labelling", deckId, grader.id])} aria-label=${`Label for ${grader.name}`}>Label</a>` },
    { name: "judge", title: "Judge", width: 9, cell: (grader) => grader.judge?.model ?? "none yet" },
  ];
  return html`
    <${Section} title="Graders" actions=${html`<span class="row-actions"><a class="button" href=${link(["decks", deckId, "propose"])}>Have a model propose</a><a class="button" href=${link(["decks", deckId, "graders", "new"])}>New grader</a></span>`}>
      <${Table} label="Graders" problem=${graders.problem} again=${graders.again} columns=${columns} rows=${graders.data?.graders ?? null} href=${(grader) => link(["decks", deckId, "graders", grader.id])}
        empty=${html`<${Empty} title="No graders" command=${`autotune decks graders add ${deckId} graders.deck.md`}>A grader is a rubric of seven levels and a model that judges by it.<//>`} />
    <//>
  `;
}

// As it was last read: to read it anew may spend a look at the held-out labels.
function Agrees({ grader, found }) {
  if (grader.status !== "active") return html`<span class="nothing">–</span>`;
  const to = link(["decks", grader.deckId, "graders", grader.id, "agreement"]);
  if (!found) return html`<a href=${to}>not read yet</a>`;
  const old = found.version === grader.version ? "" : `, of version ${found.version}`;
  return html`<span class="one-line"><a href=${to}>${agreementText(found)}</a> <span class="why">n ${count(found.n)}${old}</span></span>`;
}

function Prompt({ deck, unmatched, onDelete }) {
  return html`
    <${Section} title="System prompt" actions=${html`<span class="row-actions"><a class="button" href=${link(["decks", "unmatched"])}>Unmatched prompts</a><a class="button" href=${link(["decks", deck.id, "versions"])}>Versions and changes</a></span>`}>
      <${WithoutDeck} deck=${deck} unmatched=${unmatched} />
      <pre class="body text" tabindex="0" role="region" aria-label="System prompt of now">${deck.systemPrompt}</pre>
      <${Facts} facts=${[
        ["About", deck.description],
        ["Id", html`<${Copy} text=${deck.id} />`],
        ["Version", count(deck.version)],
        ["Made", html`<${Time} at=${deck.createdAt} />`],
        ["Made by", html`<code>${deck.createdBy}</code>`],
      ]} />
      <button type="button" onClick=${onDelete}>Delete the deck</button>
    <//>
  `;
}

// Captured calls that may have been meant for this deck.
function WithoutDeck({ deck, unmatched: { data, problem, again } }) {
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  const { prompts } = data;
  if (prompts.length === 0) return null;
  const tied = prompts.filter(({ tiedDeckIds }) => tiedDeckIds.includes(deck.id));
  return html`
    <p class="note">${count(prompts.length)} ${prompts.length === 1 ? "prompt" : "prompts"} of captured calls ${prompts.length === 1 ? "has" : "have"} no deck${tied.length === 0 ? "" : html`; ${count(tied.length)} ${tied.length === 1 ? "is" : "are"} as much this one’s as another’s: ${tied.map(({ id, excerpt }) => html` <a key=${id} href=${link(["decks", "unmatched", id])}>${excerpt || "(empty)"}</a>`)}`}.</p>
  `;
}

const WHAT = {
  active: ["Activate", "It is in use from now on."],
  archived: ["Archive", "It stays readable, with all that it has, and can be activated again."],
};

function ChangeStatus({ deck, status, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const [yes, told] = WHAT[status];
  const change = async () => {
    if (await act(() => send("PATCH", `decks/${deck.id}`, { status }))) onDone();
  };
  return html`<${Confirm} title=${`${yes} ${deck.name}?`} yes=${yes} busy=${busy} problem=${problem} onYes=${change} onClose=${onClose}>${told}<//>`;
}

function DeleteDeck({ deck, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `decks/${deck.id}`))) !== undefined) go(["decks"]);
  };
  return html`
    <${Confirm} title=${`Delete ${deck.name}?`} yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Its ${count(deck.samples)} samples, its graders, and all that judges and people said go with it. This cannot be undone.
    <//>
  `;
}
