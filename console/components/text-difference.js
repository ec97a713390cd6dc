// What changed between two texts.

import { html, useMemo } from "../preact.js";

// Comparing takes as long as the product of the lengths of what differs.
const MOST_CELLS = 4_000_000;

/** Two texts in one: what went is struck out, what came is underlined. */
export function TextDifference({ before, after, label }) {
  const parts = useMemo(() => differences(before, after), [before, after]);
  if (before === after) return html`<p class="nothing">No difference.</p>`;
  return html`
    <pre class="body difference" tabindex="0" role="region" aria-label=${label}>${parts.map(([kind, text], index) => {
      if (kind === "went") return html`<del key=${index}>${text}</del>`;
      return kind === "came" ? html`<ins key=${index}>${text}</ins>` : html`<span key=${index}>${text}</span>`;
    })}</pre>
  `;
}

/** Parts of two texts in order: `["same" | "went" | "came", text]`; by words, by lines where there are many. */
export function differences(before, after) {
  const byWords = compared(before.split(/(\s+)/), after.split(/(\s+)/));
  const found = byWords ?? compared(before.split(/(?<=\n)/), after.split(/(?<=\n)/)) ?? [["went", before], ["came", after]];
  return joined(found);
}

function compared(old, now) {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const went = old.slice(start, old.length - end);
  const came = now.slice(start, now.length - end);
  if (went.length * came.length > MOST_CELLS) return null;
  return [["same", old.slice(0, start).join("")], ...middle(went, came), ["same", end === 0 ? "" : old.slice(-end).join("")]];
}

// The longest common subsequence: cell (i, j) is its length from there on.
function middle(went, came) {
  const width = came.length + 1;
  const lengths = new Uint32Array((went.length + 1) * width);
  for (let i = went.length - 1; i >= 0; i -= 1) {
    for (let j = came.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = went[i] === came[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const parts = [];
  let [i, j] = [0, 0];
  while (i < went.length || j < came.length) {
    if (i < went.length && j < came.length && went[i] === came[j]) {
      parts.push(["same", went[i]]);
      i += 1;
      j += 1;
    } else if (j === came.length || (i < went.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      parts.push(["went", went[i]]);
      i += 1;
    } else {
      parts.push(["came", came[j]]);
      j += 1;
    }
  }
  return parts;
}

function joined(parts) {
  const found = [];
  for (const [kind, text] of parts.filter(([, it]) => it !== "")) {
    if (found.at(-1)?.[0] === kind) found.at(-1)[1] += text;
    else found.push([kind, text]);
  }
  return found;
}
