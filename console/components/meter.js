// How much of a limit is used.

import { html } from "../preact.js";

/**
 * Parts of a whole on one bar: `parts` are `{ name, value, text, tone }`, `most` is the whole, or null
 * where there is no limit; `whole` is its text.
 */
export function Meter({ label, parts, most, whole }) {
  const sum = parts.reduce((total, { value }) => total + value, 0);
  const width = (value) => `${sum === 0 ? 0 : (100 * value) / Math.max(sum, most ?? 0)}%`;
  const said = parts.map(({ name, text }) => `${text} ${name}`).join(", ");
  return html`
    <div class="meter">
      <p class="meter-head"><span>${label}</span> <b>${whole}</b></p>
      <div class="meter-bar" role="img" aria-label=${`${label}: ${said}, ${whole}`} data-unlimited=${most === null || undefined}>
        ${most !== null && parts.map(({ name, value, tone = "accent" }) => html`<span key=${name} data-tone=${tone} style=${{ width: width(value) }}></span>`)}
      </div>
      <p class="meter-parts" aria-hidden="true">
        ${parts.map(({ name, text, tone = "accent" }) => html`<span key=${name} data-tone=${tone}><i></i><b>${text}</b> ${name}</span>`)}
      </p>
    </div>
  `;
}
