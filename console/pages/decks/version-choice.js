// A grader of a deck with the versions that it has, and choosing one of these.

import { useApi } from "../../api.js";

/**
 * Load a grader and the number of its newest version, which is not the current one after a rollback.
 *
 * Returns `{ grader, newest, isThere, problem, again }`.
 */
export function useGrader(deckId, id) {
  const one = useApi(`decks/${deckId}/graders/${id}`);
  const versions = useApi(`decks/${deckId}/graders/${id}/versions`, { limit: 1 });
  const again = () => {
    one.again();
    versions.again();
  };
  return {
    grader: one.data?.grader ?? null,
    newest: versions.data?.versions[0]?.version ?? null,
    isThere: one.data !== null && versions.data !== null,
    problem: one.problem ?? versions.problem,
    again,
  };
}

/** The versions of a grader as options of a field, the newest first; "" is the current one. */
export function versionOptions({ grader, newest }) {
  if (!grader || !newest) return [["", "current"]];
  const numbers = Array.from({ length: newest }, (_, index) => index + 1).toReversed();
  return [["", `current (${grader.version})`], ...numbers.map((one) => [String(one), String(one)])];
}
