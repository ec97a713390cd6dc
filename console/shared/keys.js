// The keyboard of every page: which keys are a page's own, and which the browser's or a field's.

/**
 * Listen for keys until the returned function is called.
 *
 * `pressed(event)` gets a key that is nobody else's; `typed(event)` one that is pressed in a field
 * of text. Keys with Ctrl, Alt or ⌘ stay the browser's, but for those in fields.
 */
export function listen({ pressed, typed = () => {} }) {
  const heard = (event) => {
    if (event.isComposing) return;
    if (isText(event.target)) typed(event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey) pressed(event);
  };
  addEventListener("keydown", heard);
  return () => removeEventListener("keydown", heard);
}

/** Do what a key stands for, once however long it is held, and keep it from the browser. */
export function take(event, act, { repeats = false } = {}) {
  event.preventDefault();
  if (!event.repeat || repeats) act();
}

/** Whether a dialog is open, which keeps keys to itself. */
export function isDialogOpen() {
  return document.querySelector("dialog[open]") !== null;
}

const NO_TEXT = new Set(["button", "checkbox", "radio", "range", "reset", "submit"]);

function isText(target) {
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !NO_TEXT.has(target.type);
}
