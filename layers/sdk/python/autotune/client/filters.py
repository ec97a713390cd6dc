"""Filters of verdicts, built of a method's arguments."""

from datetime import datetime

from autotune.client.arguments import request_of
from autotune.protocol.scores import ScoreFilters


def score_filters(
    *,
    task_id: str | None,
    model_id: str | None,
    grader_id: str | None,
    min_score: float | None,
    max_score: float | None,
    start_date: datetime | None,
    end_date: datetime | None,
) -> ScoreFilters:
    """Check filters; a time without a zone is local.

    Raises:
        InvalidInputError: a filter is out of its range, or they leave nothing.
    """
    return request_of(
        ScoreFilters,
        task_id=task_id,
        model_id=model_id,
        grader_id=grader_id,
        min_score=min_score,
        max_score=max_score,
        start_date=with_zone(start_date),
        end_date=with_zone(end_date),
    )


def spelled(filters: ScoreFilters) -> dict[str, str]:
    """Return filters as query parameters."""
    fields = filters.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: str(value) for name, value in fields.items()}


def with_zone(at: datetime | None) -> datetime | None:
    """Return a time that names its zone; one without a zone is local."""
    return at if at is None or at.tzinfo else at.astimezone()
