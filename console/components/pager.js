// From one page of a list to the next.

import { html } from "../preact.js";
import { link } from "../router.js";

/** Links to the first and the next page; the cursor lies in the address, so that a page is a link. */
export function Pager({ path, query, nextToken }) {
  const { token, ...filters } = query;
  if (!token && !nextToken) return null;
  return html`
    <nav class="pager" aria-label="Pages of the list">
      ${token ? html`<a href=${link(path, filters)}>First page</a>` : html`<span>First page</span>`}
      ${nextToken ? html`<a href=${link(path, { ...filters, token: nextToken })} rel="next">Next page</a>` : html`<span>No more</span>`}
    </nav>
  `;
}
