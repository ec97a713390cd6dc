// How sure a difference is.

import { difference } from "../format.js";
import { html } from "../preact.js";

/**
 * A difference with its interval on an axis around zero: `value`, `low` and `high` are from -1 to 1.
 *
 * `ends` are the words at the left and at the right, `told` stands below, `sure` is how sure the interval is; without an interval only the difference stands there.
 */
export function Interval({ label, value, low, high, ends, told, sure = "95 %" }) {
  const reach = Math.min(1, 1.25 * Math.max(0.02, ...[value, low, high].map((it) => Math.abs(it ?? 0))));
  const at = (it) => `${(50 * (it + reach)) / reach}%`;
  const isKnown = low !== null && high !== null;
  const from = isKnown ? Math.max(-reach, low) : 0;
  const to = isKnown ? Math.min(reach, high) : 0;
  const summary = `${label}: ${difference(value)}${isKnown ? `, ${sure} interval ${difference(low)} to ${difference(high)}` : ""}`;
  return html`
    <figure class="chart">
      <div class="interval" role="img" aria-label=${summary}>
        <span class="interval-zero"></span>
        ${isKnown && html`<span class="interval-range" style=${{ left: at(from), width: `${(50 * (to - from)) / reach}%` }}></span>`}
        <span class="interval-value" style=${{ left: at(value) }}></span>
      </div>
      <div class="interval-ends" aria-hidden="true"><span>${ends[0]}<b>${difference(-reach)}</b></span><b>0</b><span>${ends[1]}<b>${difference(reach)}</b></span></div>
      <figcaption class="interval-told">${told}</figcaption>
    </figure>
  `;
}
