// What is asked before something is done.

import { html, useId, useLayoutEffect, useRef } from "../preact.js";
import { Trouble } from "./trouble.js";

/** A dialog that is open as long as it is rendered; Escape closes it as its button does. */
export function Dialog({ title, onClose, children }) {
  const id = useId();
  const dialog = useRef(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  useLayoutEffect(() => {
    const opened = dialog.current;
    const before = document.activeElement;
    const closed = () => latest.current();
    opened.addEventListener("close", closed); // by Escape; its parent takes it away then
    opened.showModal();
    return () => {
      opened.removeEventListener("close", closed);
      opened.close();
      before?.focus?.();
    };
  }, []);
  return html`
    <dialog ref=${dialog} aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${children}
    </dialog>
  `;
}

/** A form in a dialog: `onSubmit` is called once it is sent; `submit` says what that does. */
export function FormDialog({ title, submit, busy, problem, onSubmit, onClose, children }) {
  const sent = (event) => {
    event.preventDefault();
    if (!busy) onSubmit();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form class="form" onSubmit=${sent}>
        ${children}
        <${Trouble} problem=${problem} />
        <div class="dialog-actions">
          <button type="submit" class="primary" disabled=${busy}>${submit}</button>
          <button type="button" onClick=${onClose}>Cancel</button>
        </div>
      </form>
    <//>
  `;
}

/** Asks whether to do what cannot be undone; the children say what will happen. */
export function Confirm({ title, yes, busy, problem, onYes, onClose, children }) {
  return html`
    <${FormDialog} title=${title} submit=${yes} busy=${busy} problem=${problem} onSubmit=${onYes} onClose=${onClose}>
      <p>${children}</p>
    <//>
  `;
}

/** Shows a secret this once. */
export function Once({ title, onClose, children }) {
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <div class="form">
        ${children}
        <p class="hint">It is shown this once and cannot be read again.</p>
        <div class="dialog-actions"><button type="button" class="primary" onClick=${onClose}>I have it</button></div>
      </div>
    <//>
  `;
}
