// An id that leads to what it names.

import { html } from "../preact.js";
import { link } from "../router.js";
import { pagesOf } from "../pages.js";

const VIEWS = {
  bat: ["batches"],
  cmp: ["completions"],
  dck: ["decks"],
  exp: ["exports"],
  grd: ["graders"],
  lbt: ["ledger", "batches"],
  lim: ["ledger", "imports"],
  llc: ["ledger", "connections"],
  llm: ["ledger", "requests"],
  rev: ["reviews"],
  run: ["runs"],
  task: ["tasks"],
};

/** An id as a link to its page, where there is one that the role of `me` may open. */
export function Id({ id, me, query }) {
  if (!id) return html`<span class="nothing">–</span>`;
  const view = viewOf(id);
  const mayOpen = view !== null && pagesOf(me.role).some(({ page }) => page === view[0]);
  return mayOpen ? html`<a href=${link(view, query)}><code>${id}</code></a>` : html`<code>${id}</code>`;
}

/** The path of the view that shows what an id names, null where none does. */
export function viewOf(id) {
  const page = VIEWS[id.split("_")[0]];
  return page === undefined ? null : [...page, id];
}
