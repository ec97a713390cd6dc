// What is said of a training.

import { count, percent, words } from "../../format.js";

export const TRAINED = { running: "plain", hosted: "good", discarded: "warning", failed: "trouble" };

const STEPS = { freeze: "freezes its examples", train: "learns", verify: "is looked at", deploy: "is being deployed", validate: "is judged", host: "is being hosted" };
const OBJECTIONS = {
  too_few_examples: tooFew,
  agreement: ({ test }) => `${test.isGated ? "of no confidence it is shown that agreement is" : "its mean agreement is not shown to be"} above ${percent(test.threshold)}`,
  worse_than_before: ({ test }) => `it is not shown to be as good as version ${test.comparison.version}, but for ${percent(test.comparison.margin)}`,
  invalid_outputs: ({ test }) => `${percent(1 - test.valid)} of its outputs are not of the output schema`,
  too_slow: () => "more than one answer in twenty came too late",
};
const KEPT = "; it is kept for 30 days";
const ERRORS = {
  untrainable:
    "nothing to learn: outputs are all the same, or no choice among few; or too much: " +
    "rows times kinds of outputs, or different words in inputs",
  data_refused: "the examples are not what was stored of them",
  artifact_refused: "the model's bytes are not what was stored",
  task_changed: "the task has another definition by now",
  too_many_versions: "the task has as many versions as it may",
  budget_exhausted: "budgets.training_monthly has no room for a job",
  embeddings_missing: "the evaluator's embedding model is gone, or is not what it was",
  base_missing: "nobody stored the weights of training.base_model here",
  no_capacity: "no instance of training.instance_types was to be had for a day",
  job_refused: "SageMaker refused the job",
  job_name_taken: "another job at SageMaker has its name",
  job_failed: "SageMaker failed the job again and again",
  job_stopped: "somebody stopped the job at SageMaker",
  algorithm_error: "the program that trains failed",
  out_of_time: "it took longer than training.max_runtime_s, twice",
  hosting_capacity: `no instance that could host it was to be had for a day${KEPT}`,
  hosting_quota: `the account's quotas have no room for what hosts it${KEPT}`,
  not_hosted: `SageMaker does not host what was trained${KEPT}`,
  canceled: "it was canceled",
  platform_error: "Autotune could not go on",
};

/** Where a training is, or what came of it but for a version. */
export function whatCame(training) {
  const { state, step, error, objections, reason, modelTakenBy } = training;
  if (state === "running") return STEPS[step] ?? words(step);
  if (error !== null) {
    const said = ERRORS[error] ?? words(error);
    const why = modelTakenBy === null ? said : `${said.replace(KEPT, "")}; training ${count(modelTakenBy)} has its model`;
    return `${why}${reason ? ` (${reason})` : ""}`;
  }
  return objections.map((one) => (OBJECTIONS[one] ? OBJECTIONS[one](training) : words(one))).join("; ");
}

/** What becomes of a training's job and model once it is canceled. */
export function whatCancelingLeaves({ step, job, model, modelOf, test }) {
  if (step === "train" && job) return "Its job is stopped within a minute, and paid for as far as it came.";
  if (step === "verify" && job) return "Its job has ended and is paid for; nobody has looked at what it left, which is deleted.";
  if (model && (job || modelOf) && !test) return "Its model, which a job made and nobody judged, is kept for 30 days, and may be hosted until then.";
  return "The versions that there are stay as they are.";
}

function tooFew({ shortage, test }) {
  if (shortage) return `too few examples: ${count(shortage.train)} of ${count(shortage.trainNeeded)} to learn from, ${count(shortage.holdout)} of ${count(shortage.holdoutNeeded)} held out`;
  return `no model could pass on ${count(test.groups)} groups of held-out inputs`;
}
