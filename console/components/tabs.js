// Views of one page beside each other.

import { html } from "../preact.js";
import { link } from "../router.js";

/** Links to the views of a page: `tabs` are `[path, title]`, `open` is the title of the one shown. */
export function Tabs({ label, tabs, open }) {
  return html`
    <nav class="tabs" aria-label=${label}>
      ${tabs.map(([path, title]) => html`
        <a key=${title} href=${link(path)} aria-current=${title === open ? "page" : undefined}>${title}</a>`)}
    </nav>
  `;
}
