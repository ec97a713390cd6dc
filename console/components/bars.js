// How often what was: a histogram.

import { count, percent } from "../format.js";
import { html } from "../preact.js";
import { Figures } from "./figures.js";

/**
 * Bars beside each other: `bins` are `{ label, value }`, the smallest first.
 *
 * `ends` are the words below the first and the last bar; `show` makes text of a value, and `head`
 * says what a value is.
 */
export function Bars({ label, bins, ends, show = count, head = "Count" }) {
  const most = Math.max(...bins.map(({ value }) => value), 0) || 1;
  const sum = bins.reduce((total, { value }) => total + value, 0);
  const [first, last] = ends ?? [bins[0]?.label, bins.at(-1)?.label];
  const peak = bins.reduce((best, bin) => (bin.value > best.value ? bin : best), { value: 0 });
  const summary = sum === 0 ? `${label}: none` : `${label}: ${show(sum)} in all, most at ${peak.label} (${percent(peak.value / sum)})`;
  return html`
    <figure class="chart">
      <div class="bars" role="img" aria-label=${summary}>
        ${bins.map((bin) => html`
          <span key=${bin.label} title=${`${bin.label}: ${show(bin.value)}`}>
            <span style=${{ height: `${(100 * bin.value) / most}%` }}></span>
          </span>`)}
      </div>
      <div class="bar-ends" aria-hidden="true"><span>${first}</span><span>${last}</span></div>
      <${Figures} label=${label} heads=${["From", head]} rows=${bins.map((bin) => [bin.label, show(bin.value)])} />
    </figure>
  `;
}
