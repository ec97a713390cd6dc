// An instant, in the reader's zone.

import { ago, time } from "../format.js";
import { html } from "../preact.js";

/** An instant; its title is the instant in UTC. With `relative`, how long ago it was. */
export function Time({ at, relative = false }) {
  if (!at) return html`<span class="nothing">–</span>`;
  const utc = new Date(at).toISOString();
  return html`<time datetime=${utc} title=${utc}>${relative ? ago(at) : time(at)}</time>`;
}
