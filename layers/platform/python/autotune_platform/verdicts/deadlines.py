"""Which completions are out of time."""

from collections.abc import Iterable
from datetime import datetime

from autotune_platform.completions.models import CompletionHeader


def overdue(completions: Iterable[CompletionHeader], at: datetime) -> list[str]:
    """Return the ids of completions whose deadline has passed by then."""
    return [completion.id for completion in completions if completion.deadline <= at]
