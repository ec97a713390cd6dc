// What the reviewer did, in the bar.

import { call } from "./api.js";

const shown = document.getElementById("progress");

/** Show what the reviewer did today and in all; nothing waits for it, and a failure shows nothing. */
export async function show() {
  const found = await call("GET", "reviews/progress").catch(() => null);
  const mine = found?.reviewers?.[0];
  if (mine === undefined) return;
  document.getElementById("today").textContent = `${mine.today.answered} today`;
  document.getElementById("in-all").textContent = `, ${mine.total.answered} in all`;
  shown.hidden = false;
}
