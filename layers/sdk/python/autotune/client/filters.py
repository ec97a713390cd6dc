"""Filters of verdicts, as methods take them and as requests hold them."""

from datetime import datetime

from autotune.client.arguments import request_of
from autotune.client.calls import CallOptions, split_options
from autotune.protocol.scores import ScoreFilters


class FilterOptions(CallOptions, total=False):
    """Which verdicts are meant, besides what every method takes; None leaves nothing out.

    Scores are from 0 to 1, and both bounds are included. Times are those of the decision:
    ``start_date`` is included, ``end_date`` is not, and a time without a zone is local.
    ``grader_id`` may be a panel's (``pnl_…``).
    """

    task_id: str | None
    model_id: str | None
    grader_id: str | None
    min_score: float | None
    max_score: float | None
    start_date: datetime | None
    end_date: datetime | None


def score_filters(options: FilterOptions) -> tuple[ScoreFilters, CallOptions]:
    """Check filters, and return them apart from the options of the call.

    Raises:
        InvalidInputError: a filter is out of its range, or they leave nothing.
    """
    filters, call_options = split_options(options)
    for name in ("start_date", "end_date"):
        filters[name] = with_zone(filters.get(name))
    return request_of(ScoreFilters, **filters), call_options


def spelled(filters: ScoreFilters) -> dict[str, str]:
    """Return filters as query parameters."""
    fields = filters.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: str(value) for name, value in fields.items()}


def with_zone(at: datetime | None) -> datetime | None:
    """Return a time that names its zone; one without a zone is local."""
    return at if at is None or at.tzinfo else at.astimezone()
