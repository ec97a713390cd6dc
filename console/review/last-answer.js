// The last answer, for as long as it may be corrected: a link opens no review that is answered.

const button = document.getElementById("correct-button");

let last = null;
let timer = null;

/** The review that was answered last, and what was said; null once that is final. */
export const current = () => last;

/** Remember an answer until a moment, which is null where it is final at once. */
export function remember(review, body, until) {
  clearTimeout(timer);
  const left = until === null ? 0 : Date.parse(until) - Date.now();
  last = left > 0 ? { review, body } : null;
  button.hidden = last === null;
  if (last !== null) timer = setTimeout(forget, left);
}

/** Call a function when the person wants to correct it. */
export function onWanted(correct) {
  button.addEventListener("click", correct);
}

function forget() {
  last = null;
  button.hidden = true;
}
