// The pages that there are: a line for each. Its module is loaded when it is first opened.

const ALL = ["admin", "training_operator", "grader_owner", "reviewer"];
const TRAINERS = ["admin", "training_operator"];

/**
 * `page` is the first part of the fragment, `key` goes there after `g`, `group` is its heading in the
 * navigation, `roles` may open it: those whose permissions (platform/access/models.py) cover what it asks.
 */
export const PAGES = [
  { page: "", title: "Overview", key: "o", roles: TRAINERS, load: () => import("./pages/overview.js") },
  { page: "tasks", title: "Tasks", key: "t", group: "Grading", roles: TRAINERS, load: () => import("./pages/tasks.js") },
  { page: "graders", title: "Graders", key: "g", group: "Grading", roles: ["admin", "training_operator", "grader_owner"], load: () => import("./pages/graders.js") },
  { page: "completions", title: "Completions", key: "c", group: "Grading", roles: [...TRAINERS, "grader_owner"], load: () => import("./pages/completions.js") },
  { page: "batches", title: "Batches", key: "b", group: "Grading", roles: TRAINERS, load: () => import("./pages/batches.js") },
  { page: "runs", title: "Runs", key: "r", group: "Grading", roles: TRAINERS, load: () => import("./pages/runs.js") },
  { page: "reviews", title: "Reviews", key: "v", group: "Grading", roles: ["admin", "training_operator", "reviewer"], load: () => import("./pages/reviews.js") },
  { page: "decks", title: "Decks", key: "d", group: "Rubrics", roles: TRAINERS, load: () => import("./pages/decks.js") },
  { page: "labelling", title: "Labelling", key: "i", group: "Rubrics", roles: [...TRAINERS, "reviewer"], load: () => import("./pages/labelling.js") },
  { page: "exports", title: "Exports", key: "e", group: "Trainers", roles: TRAINERS, load: () => import("./pages/exports.js") },
  { page: "webhooks", title: "Webhooks", key: "w", group: "Trainers", roles: TRAINERS, load: () => import("./pages/webhooks.js") },
  { page: "reward-urls", title: "Reward URLs", key: "u", group: "Trainers", roles: TRAINERS, load: () => import("./pages/reward-urls.js") },
  { page: "ledger", title: "Ledger", key: "l", group: "Language models", roles: TRAINERS, load: () => import("./pages/ledger.js") },
  { page: "apprentice", title: "Apprentice", key: "p", group: "Language models", roles: TRAINERS, load: () => import("./pages/apprentice.js") },
  { page: "keys", title: "Keys", key: "k", group: "Access", roles: ["admin"], load: () => import("./pages/keys.js") },
  { page: "sessions", title: "Sessions", key: "s", group: "Access", roles: ALL, load: () => import("./pages/sessions.js") },
  { page: "audit", title: "Audit", key: "a", group: "Access", roles: ["admin"], load: () => import("./pages/audit.js") },
];

/** The pages that a role may open. */
export function pagesOf(role) {
  return PAGES.filter(({ roles }) => roles.includes(role));
}
