"""Errors of reviews: it is not the caller's to take, answer or correct one, or not any more."""

from autotune.protocol.reviews import ReviewState
from autotune_platform.runtime.errors import ConflictError


class ReviewHeldError(ConflictError):
    """Somebody else is at the review."""

    code = "review_held"
    title = "Another reviewer holds the review"


class ReviewAssignedError(ConflictError):
    """The review is meant for somebody else."""

    code = "review_assigned"
    title = "The review is assigned to another reviewer"


class ReviewFinalError(ConflictError):
    """The answer of a review cannot be changed: there is none, or its verdict is there."""

    code = "review_final"
    title = "The answer cannot be corrected"


class ReviewClosedError(ConflictError):
    """The review is not open; its ``code`` says in what state it is instead."""

    title = "The review is not open any more"

    def __init__(self, detail: str, *, state: ReviewState) -> None:
        super().__init__(detail)
        self.code = f"review_{state}"
