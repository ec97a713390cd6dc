// The apprentice: tasks that a paid model answers, until a small one has shown that it can.

import { html } from "../preact.js";
import { Configuration } from "./apprentice/configuration.js";
import { Examples } from "./apprentice/examples.js";
import { Pairs } from "./apprentice/pairs.js";
import { Runs } from "./apprentice/runs.js";
import { Served } from "./apprentice/served.js";
import { Task } from "./apprentice/task.js";
import { Tasks } from "./apprentice/tasks.js";
import { Trainings } from "./apprentice/trainings.js";

const VIEWS = { configuration: Configuration, examples: Examples, pairs: Pairs, runs: Runs, trainings: Trainings, versions: Served };

export const title = "Apprentice";

export default function Apprentice({ path, query }) {
  const [name, view, id] = path;
  if (!name) return html`<${Tasks} query=${query} />`;
  const View = VIEWS[view] ?? Task;
  return html`<${View} key=${`${name}/${view}`} name=${name} id=${id} query=${query} />`;
}
