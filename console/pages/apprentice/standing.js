// How a version stands, in words: `standing` is what the task's status says of it, if anything.

import { Badge } from "../../components/badge.js";
import { count, percent } from "../../format.js";
import { html } from "../../preact.js";
import { STAGES } from "./frame.js";

const NEAR_ALARM = 0.5;

/** Where a version stands, in a word. */
export function stageOf({ state, standing }) {
  if (state === "retired") return html`<${Badge} tone="trouble">retired<//>`;
  if (!standing) return html`<${Badge}>not asked<//>`;
  return html`<${Badge} tone=${STAGES[standing.stage]}>${standing.stage}<//>`;
}

/** One sentence: how far a version has come, and what speaks against it. */
export function evidenceOf({ state, isOfPresentDefinition, standing }) {
  if (!isOfPresentDefinition) return "of an earlier definition: it answers another question";
  if (state === "retired") return "taken out for good";
  if (!standing) return "nothing is known of it yet";
  const { pairs, agreement, graduatedAt, alarmLevel, alarmAt, alarmedAt, emergencyAt } = standing;
  if (emergencyAt !== null) return `out for good since pair ${count(emergencyAt)}: it agreed far too little`;
  if (agreement.pairs === 0) return pairs === 0 ? "no pairs yet" : `none since the alarm at pair ${count(alarmedAt)}`;
  const agrees = `agrees in ${percent(agreement.mean)} of ${count(agreement.pairs)} pairs`;
  const since = alarmedAt === null ? "" : ` since the alarm at pair ${count(alarmedAt)}`;
  const near = alarmLevel >= alarmAt * NEAR_ALARM ? "; close to an alarm" : "";
  const come = graduatedAt === null ? `${count(agreement.evidence)} of the ${count(agreement.evidenceNeeded)} that it takes to graduate` : `graduated at pair ${count(graduatedAt)}, and is above ${percent(agreement.bound)}`;
  return `${agrees}${since}: ${come}${near}`;
}
