// The keyboard of labelling: every step has a key.

import { LEVELS } from "../../components/levels.js";
import { isDialogOpen, listen, take } from "../../shared/keys.js";

export const DOES_NOT_APPLY = "n";

/** The key of a level: 1 is -3, and 7 is +3. */
export const keyOf = (level) => String(level + 4);

/**
 * Have keys do what they stand for, until the returned function is called.
 *
 * `actions()` returns what can be done now: `{ choose, explain, submit, skip, correct }`, each left out where it cannot.
 */
export function listenForKeys(actions) {
  return listen({
    typed(event) {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take(event, () => actions().submit?.());
    },
    pressed(event) {
      // What the console's own keys took, as after g, is not meant for a rating.
      if (event.defaultPrevented || isDialogOpen()) return;
      const { choose, explain, submit, skip, correct } = actions();
      const act = {
        [DOES_NOT_APPLY]: choose && (() => choose(null)),
        e: explain,
        s: skip,
        c: correct,
        Enter: event.target.matches("a, button:not([data-level]), summary") ? undefined : submit,
        ...Object.fromEntries(LEVELS.map((level) => [keyOf(level), choose && (() => choose(level))])),
      }[event.key];
      if (act) take(event, act);
    },
  });
}
