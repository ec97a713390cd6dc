// What is wrong with a rubric before any model reads it: what is empty, repeated or vague.

import { level } from "../../format.js";

const FEWEST_WORDS = 3;
// What says how good something is, and not what is good.
const VAGUE = new Set(["acceptable", "adequate", "average", "bad", "best", "decent", "excellent", "fair", "fine", "good", "great", "mediocre",
  "neutral", "ok", "okay", "perfect", "poor", "terrible", "worst", "awful", "response", "answer", "output", "quality", "it", "is", "a", "an", "the",
  "very", "quite", "really", "somewhat", "slightly", "rather", "extremely", "mostly", "more", "less", "than", "and", "or", "not", "of"]);

/** Faults of a rubric, in words: `[{ field, told }]`; `field` is spelled as the API does. */
export function faultsOf({ criteria, levels }) {
  const found = [];
  if (criteria.trim() === "") found.push({ field: "rubric.criteria", told: "The criteria are empty." });
  const seen = new Map();
  levels.forEach((text, index) => {
    const name = `Level ${level(index - 3)}`;
    const field = `rubric.levels[${index}]`;
    const words = wordsOf(text);
    const same = words.join(" ");
    if (words.length === 0) found.push({ field, told: `${name} is empty.` });
    else if (seen.has(same)) found.push({ field, told: `${name} says the same as ${level(seen.get(same) - 3)}.` });
    else if (words.every((word) => VAGUE.has(word))) found.push({ field, told: `${name} is vague: it says how good, and not what is.` });
    else if (words.length < FEWEST_WORDS) found.push({ field, told: `${name} is vague: say what is to be seen in the answer.` });
    if (words.length > 0 && !seen.has(same)) seen.set(same, index);
  });
  return found;
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}
