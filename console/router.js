// Where the reader is: the fragment names a page, what of it, and its filters, so that a view is a link.

import { useLayoutEffect, useState } from "./preact.js";

/** The address of a view: `link(["tasks", id], { window: "24h" })`; empty values are left out. */
export function link(path, query = {}) {
  const filters = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(filters).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

/** Go to a view. `replace` leaves no step back, as for a filter that is being typed. */
export function go(path, query, { replace = false } = {}) {
  if (replace) {
    history.replaceState(null, "", link(path, query));
    dispatchEvent(new Event("hashchange"));
  } else {
    location.hash = link(path, query);
  }
}

/** Where the reader is, in a component: `{ page, path, query }`; `page` is "" at the start. */
export function useRoute() {
  const [route, setRoute] = useState(read);
  // Before it is painted: who sees a page may go on at once.
  useLayoutEffect(() => {
    const changed = () => setRoute(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

function read() {
  const [, path = "", text = ""] = /^#\/([^?]*)\??(.*)$/.exec(location.hash) ?? [];
  const [page, ...rest] = path.split("/").map(decoded);
  return { page, path: rest.filter((part) => part !== ""), query: Object.fromEntries(new URLSearchParams(text)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % that somebody typed
  }
}
