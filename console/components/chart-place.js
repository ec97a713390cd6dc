// The place of a chart that still loads.

import { html } from "../preact.js";

/** As high as what will stand there: `kind` is lines, bars or heat; `names` those of its lines. */
export function ChartPlace({ kind, names = [] }) {
  return html`
    <figure class="chart" aria-busy="true">
      <div class=${kind}></div>
      ${kind === "lines"
        ? html`<div class="readout">
            <span class="readout-time">${"\u00a0"}</span>
            ${names.map((name) => html`<span key=${name} data-tone="plain"><i></i>${name} <b>–</b></span>`)}
          </div>`
        : html`<div class="bar-ends">${"\u00a0"}</div>`}
      <div class="figures"><p>${"\u00a0"}</p></div>
    </figure>
  `;
}
