// What is waited for, in words.

const WAITED_FOR = {
  next_attempt: "its next attempt",
  limit: "the grader’s limits",
  circuit: "its grader, which is down",
  callback: "the grader’s callback",
  model: "its language model",
  person: "a person",
};
const STEPS = {
  grade: "asks its grader",
  retry: "waits for its next attempt",
  wait_for_limit: "waits for the grader’s limits",
  wait_for_circuit: "waits for its grader, which is down",
  wait_for_callback: "waits for the grader’s callback",
  wait_for_person: "waits for a person",
  done: "done",
  give_up: "left the rest to a new run",
};

/** What a code of `waitsFor` stands for; without one it is queued, or asked about right now. */
export const waitedFor = (code) => (code ? (WAITED_FOR[code] ?? code) : "its turn, or is being asked about");

/** What a run is at. */
export const stepOf = (step) => STEPS[step] ?? step;
