"""Why the paid model was asked: what each of its calls was for."""

from collections.abc import Iterable
from typing import Final

from autotune_platform.apprentice.phases import Derived, Phase
from autotune_platform.apprentice.routing import Local
from autotune_platform.apprentice.runs.models import Run

CAUSES: Final = (
    "firstExamples",
    "firstShadow",
    "restOfFirstCanary",
    "unsure",
    "canary",
    "spotCheck",
    "laterShadow",
    "other",
)
"""In the order in which a stream meets them; ``other`` is a version that had no answer."""


def cause_of(run: Run, derived: Derived) -> str | None:
    """Return why the paid model was asked: the first cause that would have sufficed; else None.

    Args:
        derived: where the task stood when the run began.
    """
    if run.remote is None:
        return None
    if run.phase == Phase.REMOTE:
        return "firstExamples"
    if run.phase == Phase.BOTH:
        return "firstShadow" if derived.canary is None else "restOfFirstCanary"
    return _beside_a_version(run)


def _beside_a_version(run: Run) -> str:
    if run.local is Local.UNSURE:
        return "unsure"
    if run.local is not Local.ANSWERED:
        return "other"
    if run.in_canary:
        return "canary"
    return "spotCheck" if run.is_drawn else "laterShadow"


def shares(runs: Iterable[tuple[Run, Derived]]) -> dict[str, float]:
    """Return for each cause its share of runs."""
    found = [cause_of(run, derived) for run, derived in runs]
    return {cause: found.count(cause) / len(found) for cause in CAUSES}
