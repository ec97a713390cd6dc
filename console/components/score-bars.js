// How often which score was given.

import { html } from "../preact.js";
import { Bars } from "./bars.js";
import { ChartPlace } from "./chart-place.js";

/** A histogram of scores: `distribution` counts them in equal intervals from 0 to 1, null while it loads. */
export function ScoreBars({ distribution, label = "Scores" }) {
  if (distribution === null) return html`<${ChartPlace} kind="bars" />`;
  const bins = distribution.map((value, index) => ({ value, label: (index / distribution.length).toFixed(2) }));
  return html`<${Bars} label=${label} bins=${bins} ends=${["0", "1"]} />`;
}
