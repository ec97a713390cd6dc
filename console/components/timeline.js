// What happened, in its order.

import { html } from "../preact.js";
import { Time } from "./time.js";

/** A list of `{ at, title, detail, tone }`, the oldest first; `at` null is what is yet to come. */
export function TimeLine({ label, entries }) {
  return html`
    <ol class="timeline" aria-label=${label}>
      ${entries.map((entry, index) => html`
        <li key=${index} data-tone=${entry.tone ?? "plain"}>
          <span class="timeline-time">${entry.at ? html`<${Time} at=${entry.at} />` : "to come"}</span>
          <span class="timeline-title">${entry.title}</span>
          ${entry.detail && html`<span class="timeline-detail">${entry.detail}</span>`}
        </li>`)}
    </ol>
  `;
}
