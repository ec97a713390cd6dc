// How often two say which level: a matrix that filters.

import { count, level } from "../format.js";
import { html } from "../preact.js";
import { LEVELS } from "./levels.js";

/**
 * Rows are people's levels, columns the judge's, from -3 to 3: `counts[truth + 3][score + 3]`.
 *
 * `href(truth, score)` says where a cell leads to; `chosen` is the `[truth, score]` that is shown.
 */
export function Matrix({ label, counts, href, chosen }) {
  const most = Math.max(1, ...counts.flat());
  const isChosen = (truth, score) => chosen?.[0] === truth && chosen?.[1] === score;
  const cell = (truth, score) => {
    const value = counts[truth + 3][score + 3];
    if (value === 0) return html`<td key=${score} class="nil">0</td>`;
    const strength = Math.round(10 + (60 * value) / most);
    return html`
      <td key=${score} data-agrees=${truth === score || undefined} style=${{ "--strength": `${strength}%` }}>
        <a href=${href(truth, score)} aria-current=${isChosen(truth, score) ? "true" : undefined}
          aria-label=${`people ${level(truth)}, judge ${level(score)}: ${count(value)}`}>${count(value)}</a>
      </td>`;
  };
  return html`
    <div class="table-box matrix-box" role="region" aria-label=${label} tabindex="0">
      <table class="matrix">
        <thead><tr><th scope="col">people \\ judge</th>${LEVELS.map((score) => html`<th key=${score} scope="col">${level(score)}</th>`)}</tr></thead>
        <tbody>
          ${LEVELS.map((truth) => html`
            <tr key=${truth}><th scope="row">${level(truth)}</th>${LEVELS.map((score) => cell(truth, score))}</tr>`)}
        </tbody>
      </table>
    </div>
  `;
}
