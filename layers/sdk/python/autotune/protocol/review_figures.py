"""Figures of reviews on the wire: what each reviewer did, and how far people and graders agree."""

from typing import Literal

from autotune.protocol.types import ResponseModel, Timestamp


class ReviewCounts(ResponseModel):
    """What a person did: reviews that they answered, corrected, and said they cannot judge.

    ``second_opinions`` are those of the answered that another person had answered before.
    """

    answered: int = 0
    corrected: int = 0
    cannot_judge: int = 0
    second_opinions: int = 0


class ReviewerProgress(ResponseModel):
    """What one person did today, by UTC, and in all."""

    reviewer_id: str
    today: ReviewCounts
    total: ReviewCounts


class ReviewProgressList(ResponseModel):
    """A page of reviewers, by name."""

    reviewers: list[ReviewerProgress]
    next_token: str | None = None


AgreementWindow = Literal["1d", "7d", "30d", "90d"]
"""Whole days by UTC, the present one included."""


class ReviewAgreement(ResponseModel):
    """How far two agree who answered the same: two people, or a grader and a person.

    Attributes:
        since: the first of the days that count.
        grader_id: the grader, where it is one; reviews count whose first person had not looked at
            what graders said.
        pairs: how many reviews have both answers.
        tolerance: two scores within it count as the same.
        within_tolerance: of how many pairs they are.
        mean_absolute_difference: of the scores; None without a pair.
        weighted_kappa: Cohen's kappa with quadratic weights, over eleven levels of the score:
            1 where all agree, 0 for chance (Cohen 1968, doi:10.1037/h0026256). None without a pair,
            or where all answers are of one level.
    """

    task_id: str | None = None
    grader_id: str | None = None
    window: AgreementWindow
    since: Timestamp
    pairs: int
    tolerance: float
    within_tolerance: int
    share_within_tolerance: float | None = None
    mean_absolute_difference: float | None = None
    weighted_kappa: float | None = None


class ReviewAgreementResponse(ResponseModel):
    """The agreement of reviewers, or of a grader with them."""

    agreement: ReviewAgreement
