// A filter that is typed.

import { html, useLayoutEffect, useState } from "../preact.js";
import { Field } from "./field.js";

/** A field whose text counts once Enter was pressed, or it was left: `onEntered` gets it then. */
export function Entered({ value, onEntered, ...others }) {
  const [typed, setTyped] = useState(value);
  // Before it is painted: what is typed from then on stays.
  useLayoutEffect(() => setTyped(value), [value]);
  const entered = () => {
    if (typed !== value) onEntered(typed);
  };
  const pressed = (event) => {
    if (event.key === "Enter") entered();
  };
  return html`<${Field} ...${others} value=${typed} onInput=${setTyped} onKeyDown=${pressed} onBlur=${entered} />`;
}
