// The keyboard of the console.

import { go } from "./router.js";
import { isDialogOpen, listen, take } from "./shared/keys.js";

const GO_MS = 1_500;

/** Have keys do what they stand for, until the returned function is called. */
export function listenForKeys({ pages, toggleHelp }) {
  let going = 0;
  return listen({
    typed(event) {
      if (event.key === "Escape" && !isDialogOpen()) event.target.blur();
    },
    pressed(event) {
      const { key } = event;
      if (key === "?") return take(event, toggleHelp);
      if (isDialogOpen()) return undefined;
      const wasGoing = event.timeStamp - going < GO_MS && going !== 0;
      going = 0;
      if (wasGoing) {
        const found = pages.find((page) => page.key === key);
        if (found) take(event, () => go([found.page]));
      } else if (key === "g") going = event.timeStamp;
      else if (key === "/") take(event, () => document.querySelector("[data-search]")?.focus());
      else if (key === "j" || key === "k") take(event, () => step(key === "j" ? 1 : -1), { repeats: true });
      return undefined;
    },
  });
}

// Rows are reached one after the other; Enter opens the one that has the focus, as it does any link.
function step(by) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  const at = rows.findIndex((row) => row.closest("tr").contains(document.activeElement));
  const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.focus();
  rows[next]?.closest("tr").scrollIntoView({ block: "nearest" });
}
