// The score: a slider in hundredths, buttons in tenths, and the number that both show.

const slider = document.getElementById("value");
const shown = document.getElementById("shown");
const tenths = document.getElementById("tenths");
const box = slider.closest(".score");

let score = null;
let changed = () => {};

/** The score from 0 to 1, or null before one was given. */
export const current = () => score;

/** Show a score; null for none. */
export function set(value) {
  score = value === null ? null : Math.min(1, Math.max(0, Math.round(value * 100) / 100));
  slider.value = String(score ?? 0.5);
  slider.setAttribute("aria-valuetext", score === null ? "no score yet" : score.toFixed(2));
  shown.textContent = score === null ? "–" : score.toFixed(2);
  box.classList.toggle("unscored", score === null);
  for (const button of tenths.children) {
    const tenth = Number(button.dataset.tenth);
    button.setAttribute("aria-pressed", String(score !== null && Math.round(score * 100) === tenth * 10));
  }
}

/** Add to the score; without one, count from the middle. */
export function nudge(by) {
  give((score ?? 0.5) + by);
}

/** Take a score from the person. */
export function give(value) {
  set(value);
  changed();
}

/** Call a function whenever the person changes the score. */
export function onChange(told) {
  changed = told;
}

for (let tenth = 0; tenth <= 10; tenth += 1) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.tenth = String(tenth);
  button.textContent = tenth === 0 || tenth === 10 ? String(tenth / 10) : `.${tenth}`;
  button.setAttribute("aria-label", `score ${(tenth / 10).toFixed(1)}`);
  button.addEventListener("click", () => give(tenth / 10));
  tenths.append(button);
}
slider.addEventListener("input", () => give(Number(slider.value)));
set(null);
