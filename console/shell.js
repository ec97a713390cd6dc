// What surrounds every page: navigation by role, keys, help.

import { Dialog } from "./components/dialog.js";
import { Empty } from "./components/empty.js";
import { Page } from "./components/page.js";
import { words } from "./format.js";
import { PAGES, pagesOf } from "./pages.js";
import { html, useEffect, useErrorBoundary, useLayoutEffect, useState } from "./preact.js";
import { link, useRoute } from "./router.js";
import { listenForKeys } from "./shortcuts.js";

/** The page of the address, with the navigation of the session's role. */
export function Shell({ me, onLeave }) {
  const route = useRoute();
  const pages = pagesOf(me.role);
  const open = PAGES.find(({ page }) => page === (route.page || pages[0]?.page));
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);

  useLayoutEffect(() => listenForKeys({ pages, toggleHelp: () => setHelpOpen((is) => !is) }), [me.role]);
  useEffect(() => setMenuOpen(false), [route]);
  useEffect(() => {
    document.title = open ? `${open.title} · Autotune` : "Autotune";
  }, [open]);

  return html`
    <a class="skip-link" href="#page-title" onClick=${skipped}>Go to the page</a>
    <header class="top">
      <button type="button" class="quiet menu-button" aria-expanded=${isMenuOpen} aria-controls="navigation"
        onClick=${() => setMenuOpen(!isMenuOpen)}>Menu</button>
      <a class="brand" href="#/">Autotune</a>
      <span class="who"><b>${me.principalId}</b> <span>${words(me.role)} of <code>${me.organizationId}</code></span></span>
      <button type="button" class="quiet" aria-haspopup="dialog" onClick=${() => setHelpOpen(true)}>
        Keys <kbd aria-hidden="true">?</kbd>
      </button>
      <button type="button" class="quiet" onClick=${onLeave}>Sign out</button>
    </header>
    <div class="columns">
      <${Navigation} pages=${pages} open=${open} isOpen=${isMenuOpen} />
      <main class="main">
        <${Opened} key=${open?.page ?? ""} open=${open} mayOpen=${pages.includes(open)} route=${route} me=${me} />
      </main>
    </div>
    ${isHelpOpen && html`<${Help} pages=${pages} onClose=${() => setHelpOpen(false)} />`}
  `;
}

function Navigation({ pages, open, isOpen }) {
  const groups = [...new Set(pages.map(({ group }) => group))];
  return html`
    <nav class=${isOpen ? "navigation open" : "navigation"} id="navigation" aria-label="Pages">
      ${groups.map((group) => html`
        <div key=${group ?? ""} class="nav-group">
          ${group && html`<p class="nav-head">${group}</p>`}
          <ul>
            ${pages.filter((page) => page.group === group).map(({ page, title }) => html`
              <li key=${page}><a href=${link([page])} aria-current=${page === open?.page ? "page" : undefined}>${title}</a></li>`)}
          </ul>
        </div>`)}
    </nav>
  `;
}

function Opened({ open, mayOpen, route, me }) {
  const [loaded, setLoaded] = useState(null);
  const [failed, retry] = useErrorBoundary((error) => console.error(error));
  const [isLost, setLost] = useState(false);

  useEffect(() => {
    let isGone = false;
    if (mayOpen) {
      open.load().then(
        (module) => isGone || setLoaded(() => module.default),
        () => isGone || setLost(true),
      );
    }
    return () => {
      isGone = true;
    };
  }, [open, mayOpen]);
  useEffect(() => {
    // Who changes the page by keys or a screen reader begins at its heading.
    if (loaded && document.activeElement !== document.body) document.getElementById("page-title")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [loaded, route.path.join("/")]);

  if (!open) {
    return html`<${Page} title="There is no such page"><${Empty} title="The address may be mistyped." command="autotune console" /><//>`;
  }
  if (!mayOpen) {
    return html`<${Page} title=${open.title}><${Empty} title=${`Your role, ${words(me.role)}, may not open this page.`}>Ask an admin of your organisation for a key that may.<//><//>`;
  }
  if (failed || isLost) {
    return html`
      <${Page} title=${open.title}>
        <div class="trouble" role="alert">
          <p class="trouble-title">This page could not be shown</p>
          <p>${isLost ? "Its parts could not be loaded." : "It is our fault. What you changed before is done."}</p>
          <p class="trouble-foot"><button type="button" class="quiet" onClick=${isLost ? () => location.reload() : retry}>Try again</button></p>
        </div>
      <//>`;
  }
  if (!loaded) return html`<div class="page-head" aria-busy="true"><div><h1 id="page-title" tabindex="-1">${open.title}</h1></div></div>`;
  const Module = loaded;
  return html`<${Module} path=${route.path} query=${route.query} me=${me} />`;
}

function Help({ pages, onClose }) {
  const rows = [
    ...pages.map(({ key, title }) => [["g", key], `go to ${title}`]),
    [["/"], "search"],
    [["j"], "next row"],
    [["k"], "row before"],
    [["Enter"], "open the row"],
    [["?"], "show or hide this"],
  ];
  return html`
    <${Dialog} title="Keys" onClose=${onClose}>
      <dl>
        ${rows.map(([keys, what]) => html`
          <div key=${keys.join()}><dt>${keys.map((key) => html`<kbd key=${key}>${key}</kbd> `)}</dt><dd>${what}</dd></div>`)}
      </dl>
      <button type="button" class="primary" onClick=${onClose}>Close</button>
    <//>
  `;
}

// The fragment is the address of the view: it must not become that of the heading.
function skipped(event) {
  event.preventDefault();
  document.getElementById("page-title")?.focus();
}
