// What a whole falls into.

import { count, percent, words } from "../format.js";
import { html } from "../preact.js";

const STATES = ["scored", "abstained", "failed", "canceled", "pending"];

/**
 * The counts of verdicts as a bar of their states; `counts` null while they load.
 *
 * With `href(state)` the states below it are links. `small` is the bar alone, for a row.
 */
export function Shares({ label, counts, href, small = false }) {
  const sum = counts?.expected ?? 0;
  const parts = STATES.map((state) => ({ state, value: counts?.[state] ?? 0 }));
  const told = parts.filter(({ value }) => value > 0).map(({ state, value }) => `${count(value)} ${state}`);
  const bar = html`
    <div class="shares" role="img" aria-label=${`${label}: ${told.join(", ") || "none"}`}>
      ${parts.filter(({ value }) => value > 0).map(({ state, value }) => html`
        <span key=${state} data-state=${state} title=${`${count(value)} ${state}`} style=${{ flexGrow: value }}></span>`)}
    </div>`;
  if (small) return bar;
  return html`
    <div class="shares-box">
      ${bar}
      <ul class="shares-legend">
        ${parts.map(({ state, value }) => html`
          <li key=${state} class=${counts === null ? "loading" : ""}>
            <i data-state=${state} aria-hidden="true"></i>
            ${href ? html`<a href=${href(state)}>${words(state)}</a>` : words(state)}
            ${counts !== null && html`${" "}<b>${count(value)}</b> <span>${sum === 0 ? "" : percent(value / sum)}</span>`}
          </li>`)}
      </ul>
    </div>
  `;
}
