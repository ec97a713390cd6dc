// Views of one page beside each other.

import { html, useLayoutEffect, useRef } from "../preact.js";
import { link } from "../router.js";

/** Links to the views of a page: `tabs` are `[path, title]`, `open` is the title of the one shown. */
export function Tabs({ label, tabs, open }) {
  const row = useRef(null);
  // Where there is no room for all, the open one is in sight; nothing but the row itself is moved.
  useLayoutEffect(() => {
    const shown = row.current.querySelector("[aria-current]");
    if (shown) row.current.scrollLeft = shown.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - shown.offsetWidth) / 2;
  }, [open]);
  return html`
    <nav class="tabs" aria-label=${label} ref=${row}>
      ${tabs.map(([path, title]) => html`
        <a key=${title} href=${link(path)} aria-current=${title === open ? "page" : undefined}>${title}</a>`)}
    </nav>
  `;
}
