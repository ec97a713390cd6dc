// What a person has entered and not yet sent, kept for as long as the tab lives.

const PREFIX = "draft:";

/** Keep what was entered for a review. */
export function keep(reviewId, draft) {
  sessionStorage.setItem(PREFIX + reviewId, JSON.stringify(draft));
}

/** Return what was entered for a review, null if nothing. */
export function find(reviewId) {
  return JSON.parse(sessionStorage.getItem(PREFIX + reviewId) ?? "null");
}

/** Forget it, once it is recorded. */
export function forget(reviewId) {
  sessionStorage.removeItem(PREFIX + reviewId);
}
