// Adding samples to a deck from lines, and deleting one.

import { newIdempotencyKey, send, useAct } from "../../api.js";
import { Confirm, Dialog, FormDialog } from "../../components/dialog.js";
import { Field } from "../../components/field.js";
import { count } from "../../format.js";
import { html, useId, useState } from "../../preact.js";

const EXAMPLE = '{"input": "What was asked", "output": "What was answered"}';
const PER_REQUEST = 100;

/** A field of samples, a line of JSON each, typed or of a file. */
export function Lines({ value, onInput, label = "Samples" }) {
  const id = useId();
  const read = async (event) => {
    const [file] = event.target.files;
    if (file) onInput(await file.text());
  };
  return html`
    <${Field} label=${label} name="samples" rows=${6} value=${value} onInput=${onInput} placeholder=${EXAMPLE}
      hint="A line of JSON each: input and output, or request and response as OpenAI has them" />
    <div class="field"><label for=${id}>Or a file of such lines</label><input id=${id} type="file" accept=".jsonl,.json,.txt" onChange=${read} /></div>
  `;
}

/**
 * Add lines to a deck, a hundred a request: what is right is stored, and each other line is named.
 *
 * Returns `{ accepted, rejected: [{ line, field, expected }] }`; sent again with the same key, nothing is stored twice.
 */
export async function added(deckId, text, key) {
  const told = { accepted: 0, rejected: [] };
  const samples = [];
  text.split("\n").forEach((line, index) => {
    if (!line.trim()) return;
    try {
      samples.push({ line: index + 1, sample: JSON.parse(line) });
    } catch {
      told.rejected.push({ line: index + 1, field: "", expected: "a line of JSON" });
    }
  });
  for (let start = 0; start < samples.length; start += PER_REQUEST) {
    const part = samples.slice(start, start + PER_REQUEST);
    await addedPart(deckId, part, `${key}-${start}`, told);
  }
  told.rejected.sort((one, other) => one.line - other.line);
  return told;
}

// All of a request are stored, or none: those that are at fault are left out of the next.
async function addedPart(deckId, part, key, told) {
  let left = part;
  for (let round = 0; left.length > 0; round += 1) {
    try {
      const body = { samples: left.map(({ sample }) => sample) };
      const answer = await send("POST", `decks/${deckId}/samples`, body, { idempotencyKey: `${key}-${round}` });
      told.accepted += answer.samples.length;
      return;
    } catch (problem) {
      const faults = new Map();
      for (const { field, expected } of problem.errors ?? []) {
        const [, place, rest] = /^samples\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
        if (place !== undefined && !faults.has(Number(place))) faults.set(Number(place), { field: rest, expected });
      }
      if (faults.size === 0) throw problem;
      for (const [place, fault] of faults) told.rejected.push({ line: left[place].line, ...fault });
      left = left.filter((_, place) => !faults.has(place));
    }
  }
}

/** What was stored, and which lines were not. */
export function Rejected({ told }) {
  return html`
    <div class="notice" role="status">
      <p>${count(told.accepted)} ${told.accepted === 1 ? "sample was" : "samples were"} stored, ${count(told.rejected.length)} ${told.rejected.length === 1 ? "line was" : "lines were"} not.</p>
      <ul>${told.rejected.slice(0, 20).map(({ line, field, expected }) => html`<li key=${line}>Line ${line}: ${field && html`<code>${field}</code> `}${expected}</li>`)}</ul>
    </div>
  `;
}

/** Asks for samples, stores them, and says what was not. */
export function AddSamples({ deckId, onDone, onClose }) {
  const [lines, setLines] = useState("");
  const [key, setKey] = useState(newIdempotencyKey);
  const [told, setTold] = useState(null);
  const { act, problem, busy } = useAct();
  const enter = (text) => {
    setKey(newIdempotencyKey());
    setLines(text);
  };
  const add = async () => {
    const done = await act(() => added(deckId, lines, key));
    if (!done) return;
    onDone();
    if (done.rejected.length > 0) setTold(done);
    else onClose();
  };
  if (told) {
    return html`
      <${Dialog} title="Some lines were not stored" onClose=${onClose}>
        <div class="form"><${Rejected} told=${told} /><div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>Close</button></div></div>
      <//>`;
  }
  return html`
    <${FormDialog} title="Add samples" submit="Add" busy=${busy} problem=${problem} onSubmit=${add} onClose=${onClose}>
      <${Lines} value=${lines} onInput=${enter} />
    <//>
  `;
}

/** Asks whether to delete a sample. */
export function DeleteSample({ deckId, id, onDone, onClose }) {
  const { act, problem, busy } = useAct();
  const remove = async () => {
    if ((await act(() => send("DELETE", `decks/${deckId}/samples/${id}`))) !== undefined) onDone();
  };
  return html`
    <${Confirm} title="Delete the sample?" yes="Delete" busy=${busy} problem=${problem} onYes=${remove} onClose=${onClose}>
      Its texts go, with what judges and people said of it. This cannot be undone.
    <//>
  `;
}
