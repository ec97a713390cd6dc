// What was asked and answered, as OpenAI's JSON has it.

import { html } from "../preact.js";

/** Messages one below the other; what is no text is named. */
export function Conversation({ messages, label = "Conversation" }) {
  return html`
    <ol class="turns" aria-label=${label}>
      ${messages.map((message, index) => html`<li key=${index}><${Turn} role=${message.role} text=${textOf(message)} /></li>`)}
    </ol>
  `;
}

/** One text under its heading, in a box of its own. */
export function Turn({ role, text }) {
  return html`
    <p class="text-head">${role}</p>
    <pre class="body turn" tabindex="0" role="region" aria-label=${role}>${text}</pre>
  `;
}

/** The text of a message: of all its parts, and of what it calls. */
export function textOf(message) {
  const { content } = message;
  const parts = typeof content === "string" ? [content] : (content ?? []).map((part) => part.text ?? part.refusal ?? `[${part.type}]`);
  const calls = (message.tool_calls ?? []).map((call) => `[calls ${call.function?.name ?? call.type}: ${call.function?.arguments ?? ""}]`);
  return [...parts, ...(message.refusal ? [message.refusal] : []), ...calls].join("\n");
}
