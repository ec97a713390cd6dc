// The versions of a deck's system prompt, what differs between two, and writing another.

import { send, useAct, useApi } from "../../api.js";
import { Badge } from "../../components/badge.js";
import { Confirm, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { FactsToCome, Section } from "../../components/page.js";
import { Pager } from "../../components/pager.js";
import { Table } from "../../components/table.js";
import { TextDifference } from "../../components/text-difference.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";
import { link } from "../../router.js";
import { DeckPage } from "./frame.js";

export function Versions({ deckId, query }) {
  const path = ["decks", deckId, "versions"];
  const deck = useApi(`decks/${deckId}`);
  const { data, problem, again } = useApi(`decks/${deckId}/versions`, { limit: 20, nextToken: query.token });
  const [asked, setAsked] = useState(null);
  const current = deck.data?.deck;
  const changed = () => {
    setAsked(null);
    deck.again();
    again();
  };
  const rows = current ? (data?.versions ?? null) : null;
  const columns = [
    { name: "version", title: "Version", width: 7, cell: ({ version }) => html`${count(version)} ${version === current?.version && html`<${Badge} tone="good">current<//>`}` },
    { name: "note", title: "Note", width: 14, cell: ({ note }) => note || html`<span class="nothing">–</span>` },
    { name: "change", title: "", width: 8, cell: ({ version, parent }) => parent && html`<a href=${link(path, { a: parent, b: version })}>What changed</a>` },
    { name: "placeholders", title: "Placeholders", width: 10, cell: ({ placeholders }) => placeholders.join(", ") || html`<span class="nothing">none</span>` },
    { name: "createdAt", title: "Made", width: 7, cell: ({ createdAt }) => html`<${Time} at=${createdAt} relative />` },
    { name: "use", title: "", width: 9, cell: (one) => one.version !== current?.version && html`<button type="button" onClick=${() => setAsked(one)} aria-label=${`Make current: version ${one.version}`}>Make current</button>` },
    { name: "author", title: "By", width: 16.5, cell: ({ author }) => html`<code>${author}</code>` },
  ];
  return html`
    <${DeckPage} deckId=${deckId} open="Versions" title=${current?.name ?? "Deck"} about="A version never changes; going back makes an earlier one current."
      actions=${current ? html`<button type="button" class="primary" onClick=${() => setAsked("new")}>New version</button>` : null}>
      <${Trouble} problem=${deck.problem} again=${deck.again} />
      <${Table} label="Versions" problem=${problem} again=${again} columns=${columns} rows=${rows} id=${({ version }) => version} skeletons=${2} />
      <${Pager} path=${path} query=${query} nextToken=${data?.nextToken} />
      ${rows && query.a && query.b && html`<${Difference} key=${`${query.a}-${query.b}`} deckId=${deckId} a=${query.a} b=${query.b} />`}
    <//>
    ${asked === "new" && html`<${NewVersion} deck=${current} onDone=${changed} onClose=${() => setAsked(null)} />`}
    ${asked?.version && html`<${MakeCurrent} deck=${current} version=${asked.version} onDone=${changed} onClose=${() => setAsked(null)} />`}
  `;
}

function Difference({ deckId, a, b }) {
  const before = useApi(`decks/${deckId}/versions/${a}`);
  const after = useApi(`decks/${deckId}/versions/${b}`);
  const problem = before.problem ?? after.problem;
  const isThere = before.data && after.data;
  return html`
    <${Section} title=${`From version ${a} to ${b}`}>
      <${Trouble} problem=${problem} />
      ${!isThere && !problem && html`<${FactsToCome} />`}
      ${isThere && html`<${TextDifference} label="What changed in the prompt" before=${before.data.version.systemPrompt} after=${after.data.version.systemPrompt} />`}
    <//>
  `;
}

function NewVersion({ deck, onDone, onClose }) {
  const [systemPrompt, setPrompt] = useState(deck.systemPrompt);
  const [note, setNote] = useState("");
  const { act, problem, busy } = useAct();
  const add = async () => {
    if (await act(() => send("POST", `decks/${deck.id}/versions`, { systemPrompt, note, parent: deck.version }))) onDone();
  };
  return html`
    <${FormDialog} title=${`A version after ${deck.version}`} submit="Add" busy=${busy} problem=${problem} onSubmit=${add} onClose=${onClose}>
      <${Field} label="System prompt" name="systemPrompt" rows=${12} value=${systemPrompt} onInput=${setPrompt} problem=${problem} required />
      <${Field} label="Note" name="note" value=${note} onInput=${setNote} problem=${problem} hint="What it changes, and why" />
    <//>
  `;
}

function MakeCurrent({ deck, version, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const change = async () => {
    if (await act(() => send("PATCH", `decks/${deck.id}`, { version }))) onDone();
  };
  return html`
    <${Confirm} title=${`Make version ${version} current?`} yes="Make current" busy=${busy} problem=${problem} onYes=${change} onClose=${onClose}>
      Samples that come from now on are of it. Nothing is overwritten: version ${deck.version} stays.
    <//>
  `;
}
