// The keyboard: every step of a review has a key.

import { isDialogOpen, listen, take } from "../shared/keys.js";

const NO_SCORE = "n";

/** Have keys do what they stand for. */
export function listenForKeys(actions) {
  const keys = {
    [NO_SCORE]: () => actions.give(0),
    0: () => actions.give(1),
    ArrowLeft: () => actions.nudge(-0.01),
    ArrowRight: () => actions.nudge(0.01),
    e: actions.explain,
    s: actions.skip,
    c: actions.cannotJudge,
    p: actions.toggleGraders,
    r: actions.toggleRaw,
    Enter: actions.submit,
  };
  for (let tenth = 1; tenth <= 9; tenth += 1) keys[tenth] = () => actions.give(tenth / 10);

  listen({
    typed(event) {
      if (event.key === "Escape") event.target.blur();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take(event, actions.submit);
    },
    pressed(event) {
      const { target, key } = event;
      if (key === "?") take(event, actions.toggleHelp);
      // Also where nothing is open: the last one may have been the only one.
      else if (key === "z" && !isDialogOpen()) take(event, actions.correctLast);
      else if (!isDialogOpen() && actions.isOpen() && key in keys && !isTheirs(target, key)) {
        take(event, keys[key], { repeats: key.startsWith("Arrow") });
      }
    },
  });
}

// A control that has the focus keeps the keys that work it.
function isTheirs(target, key) {
  if (target.matches("#tenths button")) return false;
  if (key === "Enter") return target.matches("button, a");
  return key.startsWith("Arrow") && target.matches("input");
}
