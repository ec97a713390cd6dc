// What people enter.

import { html, useId } from "../preact.js";

/**
 * A field with its label, and what the service said of it: the problem's error named like the field.
 *
 * `options` is a list of `[value, text]` for a choice; `rows` makes it a text of several lines.
 * `onInput` gets the text. Other properties are the control's.
 */
export function Field({ label, name, value, onInput, options, rows, hint, problem, ...others }) {
  const id = useId();
  const error = problem?.errors.find(({ field }) => field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`));
  const told = error?.expected ?? hint;
  const attributes = {
    id,
    name,
    value,
    onInput: (event) => onInput(event.target.value),
    "aria-invalid": error ? "true" : undefined,
    "aria-describedby": told ? `${id}-told` : undefined,
    autocomplete: "off",
    ...others,
  };
  let control = html`<input type="text" ...${attributes} />`;
  if (rows) control = html`<textarea rows=${rows} ...${attributes}></textarea>`;
  if (options) {
    control = html`<select ...${attributes}>${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}</select>`;
  }
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${control}
      <p id=${`${id}-told`} class=${error ? "hint fault" : "hint"}>${told ?? "\u00a0"}</p>
    </div>
  `;
}
