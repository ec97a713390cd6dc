// What the views of a task of the apprentice have in common: the head, the way between them, and words.

import { Page } from "../../components/page.js";
import { Tabs } from "../../components/tabs.js";
import { html } from "../../preact.js";

export const PHASES = { 1: "the paid model", 2: "the paid model, beside a version", 3: "a version" };
export const STAGES = { out: "plain", shadow: "plain", canary: "warning", serves: "good" };
export const ALERTS = { emergency: "trouble", alarm: "trouble", silent: "trouble", unhosted: "trouble", coverage: "warning", halted: "trouble", budget: "warning", unpriced: "warning", refused: "warning", failed: "trouble", unmonitored: "warning", unchecked: "warning", stale: "warning", shift: "warning", drift: "warning", refolding: "plain", graduated: "good" };

/** Why as much is checked as is. */
export const REASONS = {
  not_graduated: "until it has graduated",
  stale: "its pairs are too old",
  below_coaching: "it may agree too little",
  near_alarm: "it is half-way to an alarm",
  coverage: "it is sure of fewer inputs than it was",
  decay: "less, the surer agreement is",
  floor: "the least share",
};

/** A view of a task: `open` is the title of its tab; the rest as of `Page`. */
export function TaskPage({ name, open, about, actions, children }) {
  const tabs = [
    [["apprentice", name], "Status"],
    [["apprentice", name, "runs"], "Runs"],
    [["apprentice", name, "examples"], "Examples"],
    [["apprentice", name, "trainings"], "Trainings"],
    [["apprentice", name, "versions"], "Versions"],
    [["apprentice", name, "pairs"], "Pairs"],
    [["apprentice", name, "configuration"], "Configuration"],
  ];
  return html`
    <${Page} title=${name} about=${about} actions=${actions}>
      <${Tabs} label="Parts of the task" tabs=${tabs} open=${open} />
      ${children}
    <//>
  `;
}

/** The version that answers, or else the one that is to; undefined where there is none. */
export function presentOf({ serving, candidate, versions }) {
  return versions.find(({ number }) => number === (serving ?? candidate));
}
