"""Ratings and ground truths as callers see them."""

from autotune.protocol import deck_feedback as wire
from autotune_platform.decks.labels.models import Rating, Truth, Word
from autotune_platform.decks.labels.results import JudgeWord


def feedback_on_wire(rating: Rating) -> wire.Feedback:
    """Return a rating."""
    return wire.Feedback(
        **rating.model_dump(exclude={"organization_id", "deck_id", "criteria"}),
        does_not_apply=rating.score is None,
    )


def result_on_wire(result: JudgeWord) -> wire.JudgeResult:
    """Return a judge's result."""
    return wire.JudgeResult.model_validate(result.model_dump())


def truth_on_wire(truth: Truth, *, criteria: str) -> wire.Truth:
    """Return a ground truth; of one that is to be adjudicated, not what people said.

    Args:
        criteria: digest of the grader's current criteria.
    """
    is_open = truth.state == "to_adjudicate"
    decided = truth.adjudication
    return wire.Truth(
        sample_id=truth.sample_id,
        grader_id=truth.grader_id,
        split=truth.split,
        state=truth.state,
        source=truth.source,
        score=truth.score,
        does_not_apply=truth.does_not_apply,
        selection=truth.selection,
        raters=len(truth.voices),
        ratings=[] if is_open else ratings_on_wire(truth, criteria=criteria),
        adjudicated_by=decided.by if decided else None,
        explanation=decided.explanation if decided else None,
        to_review=truth.rests_on_other(criteria),
        updated_at=truth.updated_at,
    )


def ratings_on_wire(truth: Truth, *, criteria: str) -> list[wire.TruthRating]:
    """Return what each person said last of what counts, or last of all if nothing counts."""
    words = truth.words
    return [
        _rating_on_wire(
            rater, words.get(rater, voice.latest), counts=rater in words, criteria=criteria
        )
        for rater, voice in sorted(truth.voices.items())
    ]


def _rating_on_wire(rater: str, word: Word, *, counts: bool, criteria: str) -> wire.TruthRating:
    return wire.TruthRating(
        rater=rater,
        score=word.score,
        does_not_apply=word.score is None,
        version=word.version,
        saw_result=word.saw_result,
        counts=counts,
        other_criteria=word.criteria != criteria,
        created_at=word.at,
    )
