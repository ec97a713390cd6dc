// How something was distributed over time.

import { count, minute } from "../format.js";
import { html } from "../preact.js";
import { ChartPlace } from "./chart-place.js";
import { Figures } from "./figures.js";

/**
 * A column for each stretch of time: `starts` are instants, `columns` how many of it lay in each of
 * equal intervals from 0 to 1, the lowest first. The fuller an interval of a column is, the darker.
 */
export function HeatMap({ label, starts, columns }) {
  if (starts === null) return html`<${ChartPlace} kind="heat" />`;
  const height = columns[0]?.length ?? 0;
  const edge = (index) => (index / height).toFixed(2);
  const sums = columns.map((column) => column.reduce((total, value) => total + value, 0));
  const peaks = columns.map((column) => Math.max(...column));
  const all = sums.reduce((total, value) => total + value, 0);
  const means = columns.map((column, at) => column.reduce((total, value, index) => total + (value * (index + 0.5)) / height, 0) / sums[at]);
  const known = means.filter((mean) => !Number.isNaN(mean));
  const told = all === 0 ? "none" : `${count(all)} in all, around ${known[0].toFixed(2)} at first and ${known.at(-1).toFixed(2)} at the end`;
  const heads = ["From", ...Array.from({ length: height }, (_, index) => edge(index))];
  return html`
    <figure class="chart">
      <div class="heat" role="img" aria-label=${`${label}: ${told}`}>
        <span class="heat-top">1</span><span class="heat-bottom">0</span>
        ${columns.map((column, at) => html`
          <span class="heat-column" key=${starts[at]}>
            ${column.map((value, index) => html`
              <span key=${index} title=${`${minute(starts[at])}, ${edge(index)} to ${edge(index + 1)}: ${count(value)}`}>
                ${value > 0 && html`<i style=${{ opacity: 0.15 + 0.85 * (value / peaks[at]) }}></i>`}
              </span>`)}
          </span>`)}
      </div>
      <div class="heat-ends" aria-hidden="true"><span>${minute(starts[0])}</span><span>${minute(starts.at(-1))}</span></div>
      <${Figures} label=${label} heads=${heads} rows=${starts.map((start, at) => [minute(start), ...columns[at].map(count)])} />
    </figure>
  `;
}
