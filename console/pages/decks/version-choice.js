// A grader of a deck with the versions that it has, and choosing one of these.

import { useApi } from "../../api.js";

/**
 * Load a grader and the number of its newest version, which is not the current one after a rollback.
 *
 * Returns `{ grader, newest, candidates, isThere, problem, again }`: `candidates` are the numbers of those of edits that are not accepted.
 */
export function useGrader(deckId, id) {
  const one = useApi(`decks/${deckId}/graders/${id}`);
  const path = `decks/${deckId}/graders/${id}/versions`;
  const versions = useApi(path, { limit: 1 });
  const edits = useApi(path, { candidate: true, limit: 200 }, { whole: "versions" });
  const again = () => {
    one.again();
    versions.again();
    edits.again();
  };
  return {
    grader: one.data?.grader ?? null,
    newest: versions.data?.versions[0]?.version ?? null,
    candidates: (edits.data?.versions ?? []).map(({ version }) => version),
    isThere: one.data !== null && versions.data !== null && edits.data !== null,
    problem: one.problem ?? versions.problem ?? edits.problem,
    again,
  };
}

/** The versions of a grader as options of a field, the newest first; "" is the current one. */
export function versionOptions(which) {
  return optionsOf(which, numbersOf(which));
}

/** The same without versions of edits that are not accepted. */
export function acceptedOptions(which) {
  return optionsOf(which, acceptedVersions(which));
}

/** The numbers of versions but those of edits that are not accepted, the newest first. */
export function acceptedVersions(which) {
  return numbersOf(which).filter((one) => !which.candidates.includes(one));
}

// Until it is known which are of edits, none is offered.
function numbersOf({ newest, isThere }) {
  if (!isThere) return [];
  return Array.from({ length: newest ?? 0 }, (_, index) => index + 1).toReversed();
}

function optionsOf({ grader }, numbers) {
  if (!grader || numbers.length === 0) return [["", "current"]];
  return [["", `current (${grader.version})`], ...numbers.map((one) => [String(one), String(one)])];
}
