// The seven levels of a rubric.

import { level } from "../format.js";
import { html } from "../preact.js";

export const LEVELS = [-3, -2, -1, 0, 1, 2, 3];

/** What each level stands for, the highest first; `texts` are from -3 to 3. */
export function Levels({ texts, label = "Levels" }) {
  return html`
    <ol class="levels" aria-label=${label}>
      ${LEVELS.toReversed().map((it) => html`
        <li key=${it} data-side=${sideOf(it)}><b>${level(it)}</b> <span>${texts[it + 3] || html`<i>nothing is said of it</i>`}</span></li>`)}
    </ol>
  `;
}

/** A level as a mark: "+2", and "does not apply" where there is none. */
export function LevelMark({ value, otherwise = "does not apply" }) {
  const isLevel = value !== null && value !== undefined;
  return html`<span class="level-mark" data-side=${isLevel ? sideOf(value) : "none"}>${isLevel ? level(value) : otherwise}</span>`;
}

function sideOf(value) {
  if (value === 0) return "middle";
  return value > 0 ? "above" : "below";
}
