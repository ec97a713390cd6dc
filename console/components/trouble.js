// What went wrong, in the words of the service.

import { html } from "../preact.js";

/** A problem: title, detail, fields at fault, limit and request id; `again` asks once more. */
export function Trouble({ problem, again }) {
  if (!problem) return null;
  const { title, detail, errors, limit, retryAfterSeconds, requestId } = problem;
  return html`
    <div class="trouble" role="alert">
      <p class="trouble-title">${title}</p>
      ${detail && html`<p>${detail}</p>`}
      ${errors.length > 0 && html`
        <ul>${errors.map((error) => html`<li key=${error.field}><code>${error.field}</code> ${error.expected}</li>`)}</ul>`}
      ${limit && html`
        <p>Limit: ${limit.name}, ${limit.maximum} ${limit.unit}${limit.actual === null || limit.actual === undefined ? "" : `; it would be ${limit.actual}`}.</p>`}
      ${retryAfterSeconds !== null && html`<p>It may succeed in ${retryAfterSeconds} s.</p>`}
      ${(requestId || again) && html`
        <p class="trouble-foot">
          ${requestId && html`<span>Request <code>${requestId}</code></span>`}
          ${again && html`<button type="button" class="quiet" onClick=${again}>Try again</button>`}
        </p>`}
    </div>
  `;
}
