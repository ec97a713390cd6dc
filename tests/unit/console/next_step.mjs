// Says of each deck of a list of JSON on stdin what its page proposes next, and for which grader.

import { text } from "node:stream/consumers";

const { leastFar, nextStep } = await import(process.argv[2]);
const found = JSON.parse(await text(process.stdin)).map(({ rated, ...known }) => {
  const active = leastFar(known.graders, known.deck.agreement);
  const step = nextStep({ ...known, active, rated: rated[active?.id] });
  return step && { to: step.to.join("/"), grader: step.grader?.id ?? null };
});
console.log(JSON.stringify(found));
