// What is useful next in a deck: the step that its least advanced grader waits for.

// Of the lower end of κ's interval, from which a judge is calibrated.
const THRESHOLD = 0.4;
const ENOUGH_LABELS = 50;

/** Return the active grader that is least far by what was read of it last, of several the first; undefined if none is active. */
export function leastFar(graders, agreement) {
  const active = graders.filter(({ status }) => status === "active");
  const far = active.map((grader) => howFar(grader, agreement));
  return active[far.indexOf(Math.min(...far))];
}

// Measured at all, of this version, with labels that suffice, well enough, published as it is, and trusted.
function howFar(grader, agreement) {
  const found = agreement.find(({ graderId }) => graderId === grader.id);
  if (!found) return 0;
  const holds = [found.version === grader.version, found.sufficient, agrees(found), isPublished(grader), isTrusted(grader)];
  const missing = holds.indexOf(false);
  return 1 + (missing === -1 ? holds.length : missing);
}

/**
 * Return `{ to, what, grader }`, the path of a page, what is to be done there, and for which grader if for one; null if nothing is left.
 *
 * `rated` is the held-out half of `active`'s progress with labels.
 */
export function nextStep({ deck, graders, runs, active, rated }) {
  const of = ["decks", deck.id];
  const proposed = graders.find(({ status }) => status === "proposed");
  const ofAll = [
    [deck.samples === 0, [...of, "samples"], "Add samples of what a model answered to this prompt."],
    [graders.length === 0, [...of, "graders", "new"], "Write a rubric: what is good, in seven levels."],
    [!active && proposed, proposed && [...of, "graders", proposed.id], "Read the rubric, and activate it."],
    [runs.length === 0, [...of, "runs"], "Have samples graded; what it costs is said before."],
  ];
  const found = ofAll.find(([is]) => is);
  if (found) return { to: found[1], what: found[2], grader: null };
  return active ? stepOf(active, deck, rated) : null;
}

function stepOf(grader, deck, rated) {
  const of = ["decks", deck.id, "graders", grader.id];
  const found = deck.agreement.find(({ graderId, version }) => graderId === grader.id && version === grader.version);
  const steps = [
    [(rated?.drawn ?? 0) < ENOUGH_LABELS, ["labelling", deck.id, grader.id], "Label samples, without seeing what the judge said."],
    [!found, [...of, "agreement"], "Read how far the judge agrees with people."],
    [found && !found.sufficient, [...of, "agreement"], "See why nothing can be claimed of the judge yet."],
    [found && !agrees(found), [...of, "fix"], "Fix the rubric: the judge agrees too little with people."],
    [!isPublished(grader), [...of, "published"], "Publish the grader, so that tasks can score by it."],
    [!isTrusted(grader), [...of, "published"], "See why what is published is not calibrated."],
    [true, ["tasks"], "Have a task score by the grader that is published."],
  ];
  const [, to, what] = steps.find(([is]) => is);
  return { to, what, grader };
}

function agrees(found) {
  return (found.low ?? -1) >= THRESHOLD;
}

function isPublished({ published, version }) {
  return Boolean(published) && published.version === version;
}

function isTrusted({ calibration, uncalibratedBecause }) {
  return Boolean(calibration) && !calibration.suspended && !uncalibratedBecause;
}
