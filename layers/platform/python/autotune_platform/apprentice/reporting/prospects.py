"""How long it is until a version graduates, and at what price."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from autotune.protocol import apprentice_estimates as wire
from autotune_platform.apprentice.agreement import mean
from autotune_platform.apprentice.estimating import FEWEST_PAIRS, MOST_PAIRS, PairsLeft, pairs_left
from autotune_platform.apprentice.folding.models import DayCounts
from autotune_platform.apprentice.reporting.known import KnownTask, VersionFigures

OBSERVED_DAYS = 7
"""Over how many days it is looked how often runs come."""
_LEAST_HOURS = 1
_LATEST = date(9999, 12, 31)


@dataclass(frozen=True)
class Pace:
    """How often runs come, and what becomes of them.

    Attributes:
        days: for how long it was looked, at least an hour.
        runs: by day; None where there were none.
        examples: answers of the paid model by day; None where there were none.
        share: how many of the runs become pairs of the version; None where none did.
        pair: what all runs cost for each such pair; None where there was none.
    """

    days: float
    runs: float | None
    examples: float | None
    share: float | None
    pair: float | None


def pace(
    days: Sequence[DayCounts], version: int | None, *, created_at: datetime, now: datetime
) -> Pace:
    """Return at which pace runs came since a task was made, over the last seven days at most.

    The first day with pairs of a version is left out of what becomes of runs where there are
    others, as the version may have come in the midst of it. Runs that are refused, that fail, or
    that the version answers unmonitored are neither examples nor pairs, and mostly cost nothing.
    """
    midnight = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    since = max(midnight - timedelta(days=OBSERVED_DAYS - 1), created_at)
    elapsed = max(now - since, timedelta(hours=_LEAST_HOURS)) / timedelta(days=1)
    recent = [one for one in days if one.day >= since.date().isoformat()]
    begun, examples = sum(one.begun for one in recent), sum(one.examples for one in recent)
    taught = [one for one in recent if _pairs(one, version)]
    taught = taught[1:] or taught
    pairs = sum(_pairs(one, version) for one in taught)
    cost = sum(one.cost_answers + one.cost_checks + one.cost_lost for one in taught)
    return Pace(
        elapsed,
        runs=begun / elapsed if begun else None,
        examples=examples / elapsed if examples else None,
        share=pairs / sum(one.begun for one in taught) if pairs else None,
        pair=cost / pairs if pairs else None,
    )


def _pairs(day: DayCounts, version: int | None) -> int:
    known = None if version is None else day.versions.get(version)
    return 0 if known is None else known.pairs


def estimate(task: KnownTask, days: Sequence[DayCounts], now: datetime) -> wire.ApprenticeEstimate:
    """Return how long it is until a version graduates.

    Args:
        days: of the last seven days, in order.
    """
    derived = task.derived
    one = None if derived.candidate is None else task.versions[derived.candidate]
    number = None if one is None else one.number
    at = pace(days, number, created_at=task.configured.task.created_at, now=now)
    missing = max(0, task.examples_needed - task.examples)
    if missing:
        return _of_examples(task, at, missing, now)
    if one is None:
        serving = derived.serving
        if serving is not None:
            return _without_games(task, at, "serves", f"version {serving} serves", serving)
        said = "no version is in shadow; register one that was trained from the examples"
        return _without_games(task, at, "no_version", said, None)
    if derived.candidate is not None and derived.is_canary:
        share = task.canaries.of(task.versions[derived.candidate].evidence.canary)
        said = f"version {number} has graduated, and answers {share:.0%} of inputs"
        return _without_games(task, at, "canary", said, number)
    if sum(one.scores.values()) < FEWEST_PAIRS:
        said = f"version {number} has fewer than {FEWEST_PAIRS} pairs, which say too little"
        return _without_games(task, at, "few_pairs", said, number, one)
    return _of_games(task, at, one, now)


def _of_examples(task: KnownTask, at: Pace, missing: int, now: datetime) -> wire.ApprenticeEstimate:
    call = task.paid.mean
    days = None if at.examples is None else missing / at.examples
    cost = None if call is None else round(missing * call)
    said = f"{missing} more answers of the paid model are needed before any version is asked"
    return _estimate(
        task,
        at,
        prospect="examples",
        version=None,
        examples_missing=missing,
        cost_nano_usd=wire.ApprenticeRange(low=cost, median=cost, high=cost),
        dates=_dates([days, days, days], now),
        message=said,
    )


def _of_games(
    task: KnownTask, at: Pace, one: VersionFigures, now: datetime
) -> wire.ApprenticeEstimate:
    left = pairs_left(
        one.scores,
        wealth=one.evidence.wealth,
        threshold=one.rules.graduation,
        level=one.level,
    )
    number, threshold = one.number, one.rules.graduation
    if left.is_never:
        said = f"it agrees too little for a threshold of {threshold}"
        return _without_games(
            task, at, "never", f"version {number} never graduates like this: {said}", number, one
        )
    pairs = [left.low, left.median, left.high]
    a_day = None if at.runs is None or at.share is None else at.runs * at.share
    days = [None if it is None or a_day is None else it / a_day for it in pairs]
    costs = [None if it is None or at.pair is None else round(it * at.pair) for it in pairs]
    return _estimate(
        task,
        at,
        prospect="beyond" if left.median is None else "foretold",
        version=number,
        observed=one,
        pairs=_range(pairs),
        cost_nano_usd=_range(costs),
        dates=_dates(days, now),
        message=_said(number, left),
    )


def _said(number: int, left: PairsLeft) -> str:
    if left.median is None:
        return f"version {number} takes more than {MOST_PAIRS:,} pairs, if it goes on like this"
    most = f"{MOST_PAIRS:,} or more" if left.high is None else f"{left.high:,}"
    said = f"some {left.median:,} more pairs ({left.low:,} to {most} in eight cases of ten)"
    return f"version {number} graduates after {said}, if it goes on like this"


def _without_games(
    task: KnownTask,
    at: Pace,
    prospect: wire.ApprenticeProspect,
    said: str,
    version: int | None,
    observed: VersionFigures | None = None,
) -> wire.ApprenticeEstimate:
    return _estimate(task, at, prospect=prospect, version=version, observed=observed, message=said)


def _estimate(
    task: KnownTask,
    at: Pace,
    *,
    prospect: wire.ApprenticeProspect,
    version: int | None,
    message: str,
    observed: VersionFigures | None = None,
    examples_missing: int = 0,
    pairs: wire.ApprenticeRange | None = None,
    cost_nano_usd: wire.ApprenticeRange | None = None,
    dates: wire.ApprenticeDates | None = None,
) -> wire.ApprenticeEstimate:
    call = task.paid.mean
    scores = {} if observed is None else observed.scores
    return wire.ApprenticeEstimate(
        prospect=prospect,
        version=version,
        agreement=mean(scores),
        observed_pairs=sum(scores.values()),
        examples_missing=examples_missing,
        pairs=pairs or _range([None] * 3),
        runs_a_day=at.runs,
        pairs_a_day=None if at.runs is None or at.share is None else at.runs * at.share,
        observed_days=at.days,
        call_nano_usd=None if call is None else round(call),
        cost_nano_usd=cost_nano_usd or _range([None] * 3),
        dates=dates or wire.ApprenticeDates(low=None, median=None, high=None),
        message=message,
    )


def _range(values: Sequence[int | None]) -> wire.ApprenticeRange:
    low, median, high = values
    return wire.ApprenticeRange(low=low, median=median, high=high)


def _dates(days: Sequence[float | None], now: datetime) -> wire.ApprenticeDates:
    low, median, high = (None if it is None else _date(it, now) for it in days)
    return wire.ApprenticeDates(low=low, median=median, high=high)


def _date(days: float, now: datetime) -> date | None:
    """Return the day that is so many days ahead; None where calendars end before."""
    today = now.astimezone(UTC).date()
    ahead = math.ceil(days)
    return today + timedelta(days=ahead) if ahead <= (_LATEST - today).days else None
