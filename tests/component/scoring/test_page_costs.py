"""What a page reads: counted exactly, and the same in a list of ten times the length."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.storage.table import Table
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.score_index import Allowance, ScoreIndex, ScorePosition
from benchmarks.score_store import ScoreStore, served
from tests.support.platform import Platform
from tests.support.verdicts import FIRST, GRADERS, MODELS, TASK, store, verdict

SIZES = (10_000, 50_000)
MINUTE = ScoreFilters(start=FIRST + timedelta(minutes=2), end=FIRST + timedelta(minutes=3))
Costs = dict[int, tuple[ScoreStore, ScoreIndex]]


@pytest.fixture(scope="module")
def lists() -> Iterator[Costs]:
    made = {size: ScoreStore(verdict) for size in SIZES}
    for size, filled in made.items():
        filled.fill(range(size))
    with served(made[SIZES[0]]) as small, served(made[SIZES[1]]) as large:
        yield {
            size: (made[size], ScoreIndex(Table("completions", client)))
            for size, client in zip(SIZES, (small, large), strict=True)
        }


def pages(
    lists: Costs, size: int, filters: ScoreFilters, start: ScorePosition, count: int
) -> list[tuple[int, int, int]]:
    """Return what each page lists, how many calls it takes, and how many entries it evaluates."""
    filled, index = lists[size]
    costs = []
    at: ScorePosition | None = start
    while at is not None and len(costs) < count:
        filled.reads.clear()
        found, at = index.page(filters, start=at, limit=50, allowance=Allowance())
        costs.append((len(found), filled.reads.calls, filled.reads.evaluated))
    return costs


# Of one page: what it lists, calls and evaluates, at the start and five hundred verdicts later.
@pytest.mark.parametrize(
    ("filters", "first", "later"),
    [
        (ScoreFilters(), (50, 1, 50), (50, 1, 50)),
        (ScoreFilters(model_id=MODELS[0]), (50, 2, 250), (50, 2, 196)),
        (ScoreFilters(model_id=MODELS[0], grader_id=GRADERS[1]), (50, 3, 339), (50, 3, 411)),
        (ScoreFilters(min_score=0.8), (50, 4, 351), (50, 3, 426)),
        (ScoreFilters(state="failed", max_score=0.5), (0, 4, 2_000), (0, 4, 2_000)),
        (ScoreFilters(model_id="nobody"), (0, 4, 2_000), (0, 4, 2_000)),
    ],
)
def test_a_page_reads_as_much_of_a_long_list_as_of_a_short_one(
    lists: Costs,
    filters: ScoreFilters,
    first: tuple[int, int, int],
    later: tuple[int, int, int],
) -> None:
    later_on = ScorePosition.behind(verdict(500))
    for size in SIZES:
        found = (
            pages(lists, size, filters, ScorePosition(TASK), 1)[0],
            pages(lists, size, filters, later_on, 1)[0],
        )
        assert found == (first, later), size


def test_a_range_of_time_reads_that_range_alone(lists: Costs) -> None:
    for size in SIZES:
        walked = pages(lists, size, MINUTE, ScorePosition(TASK), 1_000)
        assert sum(evaluated for _, _, evaluated in walked) == 240
        assert len(walked) == 5


def test_the_store_of_these_tests_answers_as_moto_does(platform: Platform) -> None:
    numbers = range(160)
    store(verdict(number) for number in numbers)
    filled = ScoreStore(verdict)
    filled.fill(numbers)
    filters = [
        ScoreFilters(),
        ScoreFilters(model_id=MODELS[1], state="scored"),
        ScoreFilters(min_score=0.2, max_score=0.7, grader_id=GRADERS[0]),
        ScoreFilters(start=FIRST + timedelta(seconds=5), end=FIRST + timedelta(seconds=30)),
        # In the middle of a second: the filter is the one that tells.
        ScoreFilters(
            start=FIRST + timedelta(seconds=5, milliseconds=250),
            end=FIRST + timedelta(seconds=30, milliseconds=750),
        ),
        ScoreFilters(state="canceled"),
    ]
    with served(filled) as client:
        clients = {"store": client, "moto": boto3.client("dynamodb")}
        for each in filters:
            with evaluated_by(clients["store"]) as ours, evaluated_by(clients["moto"]) as motos:
                walks = {
                    name: walk(ScoreIndex(Table("completions", client)), each)
                    for name, client in clients.items()
                }
            assert walks["store"] == walks["moto"]
            assert sum(ours) == sum(motos) > 0


@contextmanager
def evaluated_by(client: Any) -> Iterator[list[int]]:
    """Note how many entries each query evaluates."""
    noted: list[int] = []

    def note(parsed: dict[str, Any], **_: Any) -> None:
        noted.append(parsed["ScannedCount"])

    client.meta.events.register("after-call.dynamodb.Query", note)
    yield noted
    client.meta.events.unregister("after-call.dynamodb.Query", note)


def walk(index: ScoreIndex, filters: ScoreFilters) -> list[list[str]]:
    """Return every page of a walk, with all that the index tells of each verdict."""
    told: list[list[str]] = []
    at: ScorePosition | None = ScorePosition(TASK)
    while at is not None:
        found, at = index.page(filters, start=at, limit=7, allowance=Allowance(entries=60))
        if found or told:
            told.append([each.model_dump_json() for each in found])
    return told
