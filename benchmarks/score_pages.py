"""``python -m benchmarks.score_pages``: what a page of scores reads, at 10 thousand and a million.

The platform's own reading of its index, through boto3, from a store on loopback that counts what it
is asked for. Pages are taken from the start of the walk and from places all over it. Ends with 1
where a page of any filter reads more than its allowance, or more at a million than at ten thousand.
"""

import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from autotune_platform.storage.table import Table
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import (
    MOST_ENTRIES,
    MOST_QUERIES,
    Allowance,
    ScoreIndex,
    ScorePosition,
)
from benchmarks.score_store import Reads, ScoreStore, served
from tests.support.verdicts import FIRST, MODELS, TASK, verdict

SIZES = (10_000, 1_000_000)
PAGE = 50
PLACES = 8
PAGES_FROM_A_PLACE = 4
RARE_EVERY = 100_000
# Matches lie a little closer in some places than in others.
TOLERANCE = 1.15

FILTERS = {
    "none": ScoreFilters(),
    "one model of four": ScoreFilters(model_id=MODELS[0]),
    "score 0.95 to 1": ScoreFilters(min_score=0.95, max_score=1),
    "ten minutes": ScoreFilters(
        start=FIRST + timedelta(minutes=20), end=FIRST + timedelta(minutes=30)
    ),
    "ten minutes, one model": ScoreFilters(
        model_id=MODELS[0],
        start=FIRST + timedelta(minutes=20),
        end=FIRST + timedelta(minutes=30),
    ),
    "one in 100,000": ScoreFilters(model_id="rare"),
}


@dataclass(frozen=True)
class Cost:
    """What the pages of one filter read, on average and at most."""

    pages: int
    calls: float
    evaluated: float
    units: float
    most_calls: int
    most_evaluated: int
    listed: float


def synthetic(number: int) -> Verdict:
    """Return a small verdict; one in 100,000 is on a model that no other is on."""
    if number % RARE_EVERY == RARE_EVERY // 20:
        return verdict(number, model_id="rare")
    return verdict(number)


def measured(index: ScoreIndex, reads: Reads, filters: ScoreFilters, size: int) -> Cost:
    """Read pages from the start of a walk, and from places all over it."""
    seen: list[tuple[int, int, float, int]] = []
    starts = [ScorePosition(TASK)]
    if filters.start is None:  # a range of time is a small walk: read whole
        places = (size * place // PLACES for place in range(1, PLACES))
        starts += [ScorePosition.behind(synthetic(number)) for number in places]
    for start in starts:
        at: ScorePosition | None = start
        for _ in islice(iter(int, 1), PAGES_FROM_A_PLACE if filters.start is None else None):
            if at is None:
                break
            reads.clear()
            found, at = index.page(filters, start=at, limit=PAGE, allowance=Allowance())
            seen.append((reads.calls, reads.evaluated, reads.units, len(found)))
    calls, evaluated, units, listed = zip(*seen, strict=True)
    count = len(seen)
    return Cost(
        pages=count,
        calls=sum(calls) / count,
        evaluated=sum(evaluated) / count,
        units=sum(units) / count,
        most_calls=max(calls),
        most_evaluated=max(evaluated),
        listed=sum(listed) / count,
    )


def main() -> int:
    """Measure, print, and return the exit status."""
    costs: dict[tuple[str, int], Cost] = {}
    for size in SIZES:
        started = time.monotonic()
        store = ScoreStore(synthetic)
        store.fill(range(size))
        print(f"{size:,} verdicts indexed in {time.monotonic() - started:.0f} s", file=sys.stderr)
        with served(store) as client:
            index = ScoreIndex(Table("completions", client))
            for name, filters in FILTERS.items():
                costs[name, size] = measured(index, store.reads, filters, size)
    print(f"a page lists at most {PAGE} verdicts and reads at most {MOST_ENTRIES:,}; on average:\n")
    row = "{:<24} {:>9} {:>6} {:>7} {:>7} {:>10} {:>11} {:>8}"
    print(
        row.format("filter", "verdicts", "pages", "listed", "calls", "evaluated", "read units", "")
    )
    failed = False
    for name in FILTERS:
        small, large = (costs[name, size] for size in SIZES)
        holds = (
            large.most_calls <= MOST_QUERIES
            and large.most_evaluated <= MOST_ENTRIES
            and large.evaluated <= small.evaluated * TOLERANCE
            and large.calls <= small.calls * TOLERANCE
        )
        failed = failed or not holds
        for size, cost in zip(SIZES, (small, large), strict=True):
            told = [f"{cost.listed:.1f}", f"{cost.calls:.1f}", f"{cost.evaluated:.0f}"]
            conclusion = ("same" if holds else "MORE") if size == SIZES[-1] else ""
            cells = [f"{size:,}", cost.pages, *told, f"{cost.units:.1f}", conclusion]
            print(row.format(name, *cells))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
