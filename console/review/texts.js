// What is said where a review cannot go on.

/** Titles and texts of what ends the work, by the code of the refusal. */
export const ENDED = {
  link_expired: ["This link has ended", "Its time is over, or it was revoked. Ask whoever sent it for a new one."],
  unauthenticated: ["This link does not work", "It may have been cut off. Open it again as it was sent to you."],
  not_found: ["There is no such review", "It may have been deleted, or the link is not whole."],
  forbidden: ["This link does not allow that", "Ask whoever sent it for a new one."],
  review_answered: ["This review is done", "Somebody answered it. There is nothing left to do here."],
  review_expired: ["This review has expired", "Its time was over before somebody answered it."],
  review_withdrawn: ["This review is no longer needed", "Its completion was canceled, or decided otherwise."],
  review_held: ["Somebody is at this review", "Another reviewer has it open. It comes back if they leave it."],
  review_assigned: ["This review is for somebody else", "It was assigned to another reviewer."],
};

/** What became of the review that is open, by the code of the refusal. */
export const LOST = {
  review_answered: "Somebody else answered this review.",
  review_expired: "This review expired before your answer came.",
  review_withdrawn: "This review is no longer needed: its completion was canceled, or decided otherwise.",
  review_held: "Your time at this review ran out, and another reviewer has it now.",
  review_assigned: "This review was assigned to another reviewer.",
  review_final: "This answer is final: its time for corrections is over.",
};

/** The message of an error as a sentence. */
export function sentence(error) {
  const said = error.message || "The service refused it";
  return `${said[0].toUpperCase()}${said.slice(1).replace(/\.$/, "")}.`;
}
