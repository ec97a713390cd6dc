// How measures of agreement are said: with their interval, and where there is none, why.

import { count, difference, score } from "../../format.js";

const UNDEFINED = { no_pairs: "nothing to compare yet", one_level_only: "all is at one level" };
const NO_INTERVAL = {
  undefined: "it has no value",
  one_group: "all is of one group",
  perfect: "every pair agrees",
  undefined_replicate: "all hangs on one group",
  no_variation: "no group changes it",
  uneven_groups: "one group has nearly all samples",
  uneven_weights: "few labels stand for most samples",
};
const INSUFFICIENT = {
  few_labels: "Fewer than 50 drawn, held-out samples have a label and a judge’s level. Nothing can be claimed yet.",
  many_open: "More than 5 % of the drawn samples have no truth: people are apart on them, left them, or had seen the judge’s result. Nothing can be claimed until somebody decides.",
  other_model: "Too many samples were judged by one model before and by another after. Nothing can be claimed.",
  uneven_weights: "Few labels stand for most samples: all together say less than 50 of equal weight would. Nothing can be claimed before more of the later samples are drawn.",
  few_outside_commonest_level: "Fewer than 15 of them are outside the commonest level. Nothing can be claimed yet.",
};

/** "0.612, 0.451 to 0.733", or why it is undefined. */
export function kappaText(kappa) {
  if (kappa.value === null) return undefinedText(kappa);
  return kappa.low === null ? score(kappa.value) : `${score(kappa.value)}, ${intervalText(kappa)}`;
}

/** The same of a grader as its deck keeps it: figures that were read before. */
export function agreementText({ kappa, low, high, sufficient }) {
  if (kappa === null) return "undefined";
  const interval = low === null ? "no interval" : `${score(low)} to ${score(high)}`;
  return `${score(kappa)}, ${interval}${sufficient ? "" : ", too few labels"}`;
}

/** Why a coefficient has no value: "undefined: nothing to compare yet". */
export function undefinedText({ undefinedBecause }) {
  return `undefined: ${UNDEFINED[undefinedBecause] ?? undefinedBecause}`;
}

/** "0.451 to 0.733", or why there is none; `show` makes text of a bound. */
export function intervalText({ low, high, noIntervalBecause }, show = score) {
  if (low !== null && high !== null && low !== undefined) return `${show(low)} to ${show(high)}`;
  return `no interval: ${NO_INTERVAL[noIntervalBecause] ?? noIntervalBecause}`;
}

/** "+0.250, 0.100 to 0.400" of a mean of judge minus person. */
export function biasText(mean) {
  return mean.value === null ? "undefined" : `${difference(mean.value)}, ${intervalText(mean, difference)}`;
}

/** What of an edit's effect a person has to consent to: "2 samples that people put at -3 or -2 are newly called positive". */
export function consentText({ newlyPositive, inapplicable }) {
  const more = inapplicable ? inapplicable.new - inapplicable.old : 0;
  const told = [
    newlyPositive > 0 && `${count(newlyPositive)} ${newlyPositive === 1 ? "sample that people put at -3 or -2 is" : "samples that people put at -3 or -2 are"} newly called positive`,
    more > 0 && `${count(more)} more ${more === 1 ? "sample gets a level, to which" : "samples get a level, to which"} the question does not apply, as people say`,
  ];
  return told.filter(Boolean).join("; ");
}

/** Why nothing can be claimed, null where something can. */
export function insufficientText({ sufficient, insufficientBecause }) {
  return sufficient ? null : (INSUFFICIENT[insufficientBecause] ?? insufficientBecause);
}
