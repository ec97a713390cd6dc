// The figures of a chart, for who does not see it.

import { html, useState } from "../preact.js";

/** A table that is made when it is opened: `heads` and `rows` of texts. */
export function Figures({ label, heads, rows }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <details class="figures" onToggle=${(event) => setOpen(event.target.open)}>
      <summary>Figures</summary>
      ${isOpen && html`
        <div class="table-box" role="region" aria-label=${`Figures: ${label}`} tabindex="0">
          <table>
            <thead><tr>${heads.map((head) => html`<th key=${head} scope="col">${head}</th>`)}</tr></thead>
            <tbody>${rows.map((row, index) => html`<tr key=${index}>${row.map((cell, column) => html`<td key=${column} class="numeric">${cell}</td>`)}</tr>`)}</tbody>
          </table>
        </div>`}
    </details>
  `;
}
