// Preact as modules import it: here and in uplot.js stand the versions of libraries.

import htm from "./vendor/htm@3.1.1/htm.js";
import { h } from "./vendor/preact@11.2.0/preact.js";

export * from "./vendor/preact@11.2.0/hooks.js";
export { createContext, Fragment, render } from "./vendor/preact@11.2.0/preact.js";

/** JSX as a template literal: html`<p class="hint">${text}</p>`. Text is always text, never HTML. */
export const html = htm.bind(h);
