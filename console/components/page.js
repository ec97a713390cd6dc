// A page's head and parts.

import { html } from "../preact.js";

// What is longer is set smaller, so that no figure is broken.
const LONG = 9;

/** A page: its heading, what it is about in a line, and what can be done, at the right; `actions` null keeps its place. */
export function Page({ title, about, actions, children }) {
  return html`
    <div class="page-head">
      <div>
        <h1 id="page-title" tabindex="-1">${title}</h1>
        ${about && html`<p class="about">${about}</p>`}
      </div>
      ${actions !== undefined && html`<div class="page-actions">${actions}</div>`}
    </div>
    ${children}
  `;
}

/** A part of a page below a heading of its own. */
export function Section({ title, actions, children }) {
  return html`
    <section class="section" aria-label=${title}>
      <div class="section-head"><h2>${title}</h2>${actions}</div>
      ${children}
    </section>
  `;
}

/** Figures beside each other, of `Stat`. */
export function Stats({ children }) {
  return html`<dl class="stats">${children}</dl>`;
}

/** One figure: `value` is text, and null while it loads. */
export function Stat({ label, value, hint, tone }) {
  return html`
    <div class="stat" data-tone=${tone}>
      <dt>${label}</dt>
      <dd class=${value === null ? "loading" : String(value).length > LONG ? "long" : ""}>${value ?? "\u00a0"}</dd>
      <dd class="hint">${hint ?? "\u00a0"}</dd>
    </div>
  `;
}

/** What something consists of: a list of `[name, value]`, those without a value left out. */
export function Facts({ facts }) {
  const told = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`
    <dl class="facts">
      ${told.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
  `;
}

/** In the place of `Facts` that still load. */
export function FactsToCome() {
  return html`
    <div class="facts" aria-busy="true">
      ${Array.from({ length: 6 }, (_, index) => html`<div key=${index} class="skeleton-fact"><span></span><span></span></div>`)}
    </div>
  `;
}
