// Text to take along.

import { html, useRef, useState } from "../preact.js";

const SHOWN_MS = 2_000;

/** A command, id or secret with a button that copies it; where that is refused, it is selected. */
export function Copy({ text, label = "Copy" }) {
  const [told, setTold] = useState("");
  const code = useRef(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setTold("Copied");
    } catch {
      getSelection().selectAllChildren(code.current);
      setTold("Selected");
    }
    setTimeout(() => setTold(""), SHOWN_MS);
  };
  return html`
    <span class="copy">
      <code ref=${code}>${text}</code>
      <button type="button" class="quiet" onClick=${copy}>${told || label}</button>
      <span class="visually-hidden" role="status">${told}</span>
    </span>
  `;
}
