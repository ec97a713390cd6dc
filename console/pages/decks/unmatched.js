// System prompts of captured calls that no deck has: with counts, made a deck, or dismissed.

import { send, useAct, useApi } from "../../api.js";
import { Conversation, Turn, textOf } from "../../components/conversation.js";
import { Copy } from "../../components/copy.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Field } from "../../components/field.js";
import { Facts, FactsToCome, Page, Section } from "../../components/page.js";
import { Table } from "../../components/table.js";
import { Time } from "../../components/time.js";
import { Trouble } from "../../components/trouble.js";
import { count } from "../../format.js";
import { html, useState } from "../../preact.js";
import { go, link } from "../../router.js";

const PATH = ["decks", "unmatched"];

/** All of them, those with most calls first. */
export function Unmatched() {
  const { data, problem, again } = useApi("unmatched-prompts");
  const [asked, setAsked] = useState(null);
  const close = () => setAsked(null);
  const columns = [
    { name: "excerpt", title: "System prompt", width: 20, cell: ({ excerpt }) => html`<span class="excerpt">${excerpt || "(empty)"}</span>` },
    { name: "calls", title: "Calls", width: 5, numeric: true, cell: ({ calls }) => count(calls) },
    { name: "last", title: "Last seen", width: 7, cell: ({ lastSeenAt }) => html`<${Time} at=${lastSeenAt} relative />` },
    { name: "actions", title: "", width: 8, cell: (one) => html`<button type="button" aria-label=${`Dismiss ${one.id}`} onClick=${() => setAsked(one)}>Dismiss</button>` },
    { name: "tied", title: "Tied decks", width: 6, numeric: true, cell: ({ tiedDeckIds }) => count(tiedDeckIds.length) },
    { name: "characters", title: "Characters", width: 6.5, numeric: true, cell: ({ characters }) => count(characters) },
    { name: "first", title: "First seen", width: 7, cell: ({ firstSeenAt }) => html`<${Time} at=${firstSeenAt} relative />` },
  ];
  return html`
    <${Page} title="Unmatched prompts" about=${html`Captured calls whose system prompt no deck has. Open one to make a deck of it. <a href="#/decks">To the decks</a>`}>
      <${Table} label="Unmatched prompts" problem=${problem} again=${again} columns=${columns} rows=${data?.prompts ?? null} href=${({ id }) => link([...PATH, id])}
        empty=${html`<${Empty} title="No unmatched prompts" command="autotune decks unmatched">Every captured call found its deck, or none was captured yet.<//>`} />
      ${data?.passedOver > 0 && html`<p class="hint">${count(data.passedOver)} further calls had other prompts, for which the list has no room.</p>`}
    <//>
    ${asked && html`<${Dismiss} prompt=${asked} onDone=${() => { close(); again(); }} onClose=${close} />`}
  `;
}

/** One of them, whole. */
export function UnmatchedPrompt({ id }) {
  const { data, problem, again } = useApi(`unmatched-prompts/${id}`);
  const [isAsked, setAsked] = useState(false);
  const prompt = data?.prompt;
  return html`
    <${Page} title="Unmatched prompt" about=${html`<${Copy} text=${id} />`} actions=${prompt ? html`<button type="button" onClick=${() => setAsked(true)}>Dismiss</button>` : problem ? undefined : null}>
      <${Trouble} problem=${problem} again=${again} />
      ${!prompt && !problem && html`<${FactsToCome} />`}
      ${prompt && html`
        <${Facts} facts=${[
          ["Calls", count(prompt.calls)],
          ["First seen", html`<${Time} at=${prompt.firstSeenAt} />`],
          ["Last seen", html`<${Time} at=${prompt.lastSeenAt} />`],
          ["Decks that have it equally well", prompt.tiedDeckIds.length === 0 ? null : prompt.tiedDeckIds.map((deckId) => html`<a key=${deckId} href=${link(["decks", deckId])}><code>${deckId}</code></a> `)],
        ]} />
        <pre class="body text" tabindex="0" role="region" aria-label="System prompt">${prompt.systemPrompt}</pre>
        <${MakeDeck} prompt=${prompt} />
        <${Examples} examples=${prompt.examples ?? []} />`}
    <//>
    ${isAsked && html`<${Dismiss} prompt=${prompt} onDone=${() => go(PATH)} onClose=${() => setAsked(false)} />`}
  `;
}

function MakeDeck({ prompt }) {
  const [entered, setEntered] = useState({ name: "", description: "", holdoutShare: "0.5" });
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const make = async (event) => {
    event.preventDefault();
    if (busy) return;
    const body = { ...entered, holdoutShare: Number(entered.holdoutShare) };
    const made = await act(() => send("POST", `unmatched-prompts/${prompt.id}/deck`, body));
    if (made) go(["decks", made.deck.id]);
  };
  const examples = prompt.examples?.length ?? 0;
  return html`
    <${Section} title="Make a deck">
      <form class="form narrow" onSubmit=${make}>
        <p>The deck has this prompt, and begins with the ${examples === 1 ? "call that is" : `${count(examples)} calls that are`} kept. Calls that come find it from then on.</p>
        <${Field} label="Name" name="name" value=${entered.name} onInput=${enter("name")} problem=${problem} required />
        <${Field} label="Description" name="description" value=${entered.description} onInput=${enter("description")} problem=${problem} />
        <${Field} label="Share that is held out" name="holdoutShare" type="number" min="0" max="1" step="any" value=${entered.holdoutShare} onInput=${enter("holdoutShare")} problem=${problem} required hint="It cannot be changed later" />
        <${Trouble} problem=${problem} />
        <div class="dialog-actions"><button type="submit" class="primary" disabled=${busy}>Make a deck</button></div>
      </form>
    <//>
  `;
}

function Examples({ examples }) {
  return html`
    <${Section} title="Calls that are kept">
      ${examples.length === 0 && html`<p class="nothing">None: what was captured has expired.</p>`}
      ${examples.map(({ request, response, capturedAt }, index) => html`
        <article key=${index} class="disagreement" aria-label=${`Call ${index + 1}`}>
          <p class="text-head"><${Time} at=${capturedAt} /></p>
          <${Conversation} label=${`Asked ${index + 1}`} messages=${request.messages ?? []} />
          ${response.choices?.[0]?.message && html`<${Turn} role="answer" text=${textOf(response.choices[0].message)} />`}
        </article>`)}
    <//>
  `;
}

function Dismiss({ prompt, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const dismiss = async () => {
    if ((await act(() => send("DELETE", `unmatched-prompts/${prompt.id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Dismiss the prompt?" yes="Dismiss" busy=${busy} problem=${problem} onYes=${dismiss} onClose=${onClose}>
      Its text goes, with its count of ${count(prompt.calls)} and the calls that are kept with it. If such calls come again, it is not listed for 90 days.
    <//>
  `;
}
