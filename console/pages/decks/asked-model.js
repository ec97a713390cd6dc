// Which model is asked, and what that may cost.

import { Field } from "../../components/field.js";
import { html } from "../../preact.js";

const NANO = 1e9;

/** What is entered before anything is: `{ connectionId, model, cap }`. */
export const NOBODY = { connectionId: "", model: "", cap: "" };

/**
 * Fields of a model that proposes: `entered` as of `NOBODY`, `onEnter(name, value)`; `connections` is what `useApi` returned.
 *
 * `capHint` says what an empty cap means; without it one has to be given.
 */
export function AskedModel({ entered, onEnter, connections, problem, capHint }) {
  const choices = (connections.data?.connections ?? []).map(({ id, name }) => [id, name]);
  const enter = (name) => (value) => onEnter(name, value);
  return html`
    <${Field} label="Connection" name="proposer.connectionId" value=${entered.connectionId} onInput=${enter("connectionId")} options=${[["", "choose one"], ...choices]} problem=${problem ?? connections.problem} required />
    <${Field} label="Model that is asked" name="proposer.model" value=${entered.model} onInput=${enter("model")} problem=${problem} required />
    <${Field} label="Stop before it costs more than, in dollars" name="capNanoUsd" type="number" min="0" step="any" value=${entered.cap} onInput=${enter("cap")} problem=${problem} hint=${capHint} required=${capHint === undefined} />
  `;
}

/** The model as the API has it; `maxTokens` is of each answer. */
export function modelOf({ connectionId, model }, maxTokens) {
  return { connectionId, model, params: { maxTokens, temperature: 0 } };
}

/** A cap in billionths of a dollar, undefined where none was given. */
export function capOf(dollars) {
  return dollars === "" ? undefined : Math.round(Number(dollars) * NANO);
}
