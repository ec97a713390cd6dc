// What a judge said of a sample.

import { Badge } from "../../components/badge.js";
import { Id } from "../../components/id.js";
import { LevelMark } from "../../components/levels.js";
import { nanoDollars, words } from "../../format.js";
import { html } from "../../preact.js";

/** One result: level, explanation and, opened, reasoning, with what it cost. */
export function Result({ result, me }) {
  return html`
    <div class="said-by">
      <h3>Version ${result.version} ${result.repeated && html`<${Badge}>judged again<//>`}</h3>
      <p>${result.status === "scored" ? html`<${LevelMark} value=${result.score} />` : html`<${Badge}>${result.status}<//> ${words(result.reason)}`} ${result.explanation}</p>
      ${result.reasoning && html`<details class="figures"><summary>Reasoning</summary><p>${result.reasoning}</p></details>`}
      <p class="why">${nanoDollars(result.costNanoUsd)}${result.answeredModel ? ` · ${result.answeredModel}` : ""} · <${Id} id=${result.requestId} me=${me} /></p>
    </div>
  `;
}
