// Asking why somebody cannot judge.

const dialog = document.getElementById("cannot");
const form = document.getElementById("cannot-form");
const words = document.getElementById("cannot-words");
const trouble = document.getElementById("cannot-trouble");

let send = async () => {};

/** Ask why, and have `answered` do with the reason what is to be done; the dialog is closed then. */
export function ask(answered) {
  send = answered;
  form.reset();
  trouble.hidden = true;
  dialog.showModal();
  form.elements.reason[0].focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const reason = form.elements.reason.value;
  if (reason === "other" && words.value.trim() === "") {
    trouble.textContent = "Say the reason in words.";
    trouble.hidden = false;
    words.focus();
    return;
  }
  dialog.close();
  send({ reason, explanation: words.value });
});
document.getElementById("cannot-close").addEventListener("click", () => dialog.close());
