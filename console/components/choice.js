// One of a few views.

import { html } from "../preact.js";

/** Links beside each other, of which one is where the reader is: `options` are `[value, text]`. */
export function Choice({ label, options, value, href }) {
  return html`
    <nav class="choice" aria-label=${label}>
      ${options.map(([key, text]) => html`<a key=${key} href=${href(key)} aria-current=${key === value ? "true" : undefined}>${text}</a>`)}
    </nav>
  `;
}
