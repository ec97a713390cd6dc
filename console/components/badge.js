// One word for a state, with a colour that repeats it.

import { words } from "../format.js";
import { html } from "../preact.js";

const TONES = {
  good: ["active", "completed", "delivered", "healthy", "scored", "closed", "answered", "succeeded"],
  trouble: ["failed", "error", "disabled", "inactive", "unknown", "open_circuit"],
  warning: ["degraded", "half_open", "paused", "waiting", "abstained", "expired", "retrying", "suspended"],
};
const TONE_OF = Object.fromEntries(
  Object.entries(TONES).flatMap(([tone, states]) => states.map((state) => [state, tone])),
);

/** A state: `<Badge>${key.status}<//>`; `tone` good, warning, trouble or plain, else by the word. */
export function Badge({ children, tone }) {
  const state = [children].flat().join("");
  return html`<span class="badge" data-tone=${tone ?? TONE_OF[state] ?? "plain"}>${words(state)}</span>`;
}
