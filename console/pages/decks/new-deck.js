// Making a deck: its prompt, and samples at once where there are some.

import { newIdempotencyKey, send, useAct } from "../../api.js";
import { Field } from "../../components/field.js";
import { Page } from "../../components/page.js";
import { Trouble } from "../../components/trouble.js";
import { html, useState } from "../../preact.js";
import { go } from "../../router.js";
import { Lines, Rejected, added } from "./sample-dialogs.js";

const GRADERS = [["person", "I write them"], ["model", "a model proposes them from the prompt"]];

export function NewDeck() {
  const [entered, setEntered] = useState({ name: "", description: "", systemPrompt: "", holdoutShare: "0.5" });
  const [lines, setLines] = useState("");
  const [deckId, setDeckId] = useState(null);
  const [told, setTold] = useState(null);
  const [graders, setGraders] = useState("person");
  const [key, setKey] = useState(newIdempotencyKey);
  const { act, problem, busy } = useAct();
  const enter = (name) => (value) => setEntered((old) => ({ ...old, [name]: value }));
  const enterLines = (text) => {
    setKey(newIdempotencyKey());
    setLines(text);
  };
  const create = async (event) => {
    event.preventDefault();
    if (busy) return;
    const done = await act(async () => {
      const body = { ...entered, holdoutShare: Number(entered.holdoutShare) };
      const id = deckId ?? (await send("POST", "decks", body)).deck.id;
      setDeckId(id); // made once, though its samples may be sent again
      return { id, samples: lines.trim() ? await added(id, lines, key) : null };
    });
    if (done?.samples?.rejected.length > 0) setTold(done.samples);
    else if (done) go(after(done.id));
  };
  const after = (id) => (graders === "model" ? ["decks", id, "propose"] : ["decks", id]);
  const field = (label, name, others) => html`
    <${Field} label=${label} name=${name} value=${entered[name]} onInput=${enter(name)} problem=${problem} disabled=${deckId !== null} ...${others} />`;
  return html`
    <${Page} title="New deck" about="A deck has a system prompt in versions, samples of what a model answered to it, and rubrics that grade them.">
      <form class="form wide-form" onSubmit=${create}>
        ${field("Name", "name", { required: true })}
        ${field("Description", "description")}
        ${field("System prompt", "systemPrompt", { rows: 10, required: true, hint: "{{name}} stands for what differs from request to request" })}
        ${field("Share that is held out", "holdoutShare", { type: "number", min: "0", max: "1", step: "any", required: true, hint: "It is graded and measured, and never looked at to change a rubric. It cannot be changed later." })}
        <${Field} label="Graders" name="graders" value=${graders} onInput=${setGraders} options=${GRADERS} hint="What is good, in seven levels. You say which model is asked, and what it may cost, before it is." />
        <${Lines} value=${lines} onInput=${enterLines} label="Samples, if there are some" />
        <${Trouble} problem=${problem} />
        ${told && html`<${Rejected} told=${told} />`}
        <div class="dialog-actions">
          ${told
            ? html`<button type="button" class="primary" onClick=${() => go(after(deckId))}>${graders === "model" ? "Go on to its graders" : "Go to the deck"}</button>`
            : html`<button type="submit" class="primary" disabled=${busy}>${deckId ? "Send samples again" : "Create"}</button>`}
        </div>
      </form>
    <//>
  `;
}
