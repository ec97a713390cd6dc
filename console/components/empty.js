// Nothing there, and what to do about it.

import { html } from "../preact.js";
import { Copy } from "./copy.js";

/** What is not there, what to do next, and the command that does it. */
export function Empty({ title, children, command }) {
  return html`
    <div class="empty">
      <p class="empty-title">${title}</p>
      ${children && html`<p>${children}</p>`}
      ${command && html`<${Copy} text=${command} />`}
    </div>
  `;
}
