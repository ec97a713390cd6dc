// What is to be judged, and what graders said of it.

const policy = globalThis.trustedTypes?.createPolicy("rendered-by-the-service", {
  // The service escapes what it renders; this page makes HTML of nothing else.
  createHTML: (html) => html,
}) ?? { createHTML: (html) => html };

const parts = { prompt: document.getElementById("prompt"), response: document.getElementById("response") };
const instructions = document.getElementById("instructions");
const rawButton = document.getElementById("raw-button");
const graders = document.getElementById("graders");
const gradersButton = document.getElementById("graders-button");

let review = null;
let raw = false;

/** Show a review's texts from their beginnings, and hide what graders said. */
export function show(shown) {
  review = shown;
  instructions.textContent = review.instructions;
  instructions.parentElement.hidden = review.instructions === "";
  fill();
  for (const part of Object.values(parts)) part.scrollTop = 0;
  graders.parentElement.hidden = !review.hasPreliminary;
  hideGraders();
}

/** Switch between the rendered page and the very text. */
export function toggleRaw() {
  raw = !raw;
  rawButton.setAttribute("aria-pressed", String(raw));
  fill();
}

/** Whether what graders said is to be seen. */
export const gradersAreShown = () => !graders.hidden;

/** Hide what graders said. */
export function hideGraders() {
  graders.hidden = true;
  gradersButton.setAttribute("aria-expanded", "false");
}

/** Show what graders said. */
export function showGraders(preliminary) {
  const rows = [row("Together", preliminary, "whole")];
  for (const dimension of preliminary.dimensions ?? []) {
    rows.push(row(dimension.name, { state: "scored", value: dimension.value }));
  }
  preliminary.opinions.forEach((opinion, index) => rows.push(row(`Grader ${index + 1}`, opinion)));
  const list = document.createElement("dl");
  list.append(...rows);
  graders.replaceChildren(list);
  graders.hidden = false;
  gradersButton.setAttribute("aria-expanded", "true");
}

function fill() {
  for (const [name, part] of Object.entries(parts)) {
    const text = review[name];
    const html = review[`${name}Html`];
    if (typeof text !== "string") part.replaceChildren(element("p", "gone", missing()));
    else if (raw || typeof html !== "string") part.replaceChildren(element("pre", "raw", text));
    else part.innerHTML = policy.createHTML(html);
  }
}

function missing() {
  return review.textTooLarge ? "This text is too large to be shown. Skip leaves it to others." : "This text was deleted.";
}

function row(name, said, kind = "") {
  const line = element("div", kind);
  const scored = said.state === "scored" && typeof said.value === "number";
  const confidence = typeof said.confidence === "number" ? ` · ${Math.round(said.confidence * 100)} % sure` : "";
  line.append(element("dt", "", name), element("dd", "", scored ? said.value.toFixed(2) + confidence : said.state));
  if (scored) {
    const meter = element("meter", "");
    meter.value = said.value;
    meter.setAttribute("aria-hidden", "true");
    line.append(meter);
  }
  return line;
}

function element(tag, kind, text = "") {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.textContent = text;
  return made;
}
