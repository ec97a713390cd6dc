// What a whole consists of.

import { count, percent } from "../format.js";
import { html } from "../preact.js";

/** A bar in parts, with their names and counts below: `parts` are `{ name, value, tone }`. */
export function Proportions({ label, parts }) {
  const sum = parts.reduce((total, { value }) => total + value, 0);
  const told = parts.map(({ name, value }) => `${count(value)} ${name}`).join(", ");
  return html`
    <figure class="chart">
      <div class="proportions" role="img" aria-label=${`${label}: ${told}`}>
        ${parts.filter(({ value }) => value > 0).map(({ name, value, tone = "plain" }) => html`
          <span key=${name} data-tone=${tone} style=${{ flexGrow: value }}></span>`)}
      </div>
      <figcaption class="readout">
        ${parts.map(({ name, value, tone = "plain" }) => html`
          <span key=${name} data-tone=${tone}><i aria-hidden="true"></i>${name} <b>${count(value)}</b> ${sum > 0 && percent(value / sum)}</span>`)}
      </figcaption>
    </figure>
  `;
}
