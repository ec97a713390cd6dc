"""``GET /api/v1/scores?order=newest``: what was decided last comes first, at a bounded cost."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.runtime import clients
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.newest_first import NewestPosition, NewestVerdicts
from autotune_platform.verdicts.score_index import Allowance
from tests.support.graders import loopback_grader
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform
from tests.support.verdicts import FIRST, MODELS, TASK, counted_reads, store, verdict


def decided(number: int, **fields: Any) -> Verdict:
    """Return a verdict with a fraction of a second, as all but one in a million have it."""
    return verdict(
        number, decided_at=FIRST + timedelta(milliseconds=250 * number, microseconds=7), **fields
    )


STORED = [decided(number) for number in range(120)]
NEWEST = [one.completion_id for one in reversed(STORED)]
SHORT = "cmp_" + "7" * 26


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    with pytest.MonkeyPatch.context() as patched, make_platform(patched) as made:
        store(STORED)
        yield made


@pytest.fixture(scope="module")
def newest(platform: Platform) -> NewestVerdicts:
    return NewestVerdicts(table=Table("completions", clients.dynamodb()))


def pages(
    newest: NewestVerdicts, filters: ScoreFilters, limit: int, **allowed: int
) -> Iterator[tuple[list[Verdict], NewestPosition | None]]:
    at: NewestPosition | None = None
    while True:
        found, at = newest.page(
            TASK, filters, start=at, limit=limit, allowance=Allowance(**allowed)
        )
        yield found, at
        if at is None:
            return
        at = NewestPosition.from_token(at.token(), TASK)


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
@pytest.mark.parametrize(
    "filters",
    [
        ScoreFilters(),
        ScoreFilters(model_id=MODELS[1]),
        ScoreFilters(state="failed"),
        ScoreFilters(min_score=0.9),
        ScoreFilters(start=FIRST + timedelta(seconds=5), end=FIRST + timedelta(seconds=20)),
        ScoreFilters(model_id="nobody"),
    ],
)
def test_every_match_comes_once_and_the_newest_first(
    newest: NewestVerdicts, filters: ScoreFilters, limit: int
) -> None:
    expected = [
        one.completion_id
        for one in reversed(STORED)
        if filters.model_id in (None, one.model_id)
        and filters.state in (None, one.state)
        and (filters.min_score is None or (one.value or 0) >= filters.min_score)
        and (filters.start is None or one.decided_at >= filters.start)
        and (filters.end is None or one.decided_at < filters.end)
    ]
    # So few entries a page that most pages end before they are full.
    for entries in (2_000, 45):
        walked = list(pages(newest, filters, limit, entries=entries))
        assert all(len(found) <= limit for found, _ in walked)
        assert [one.completion_id for found, _ in walked for one in found] == expected


def test_a_page_looks_at_few_entries_and_ends_where_its_allowance_does(
    newest: NewestVerdicts,
) -> None:
    with counted_reads() as reads:
        found, at = next(pages(newest, ScoreFilters(), 12))
    assert [one.completion_id for one in found] == NEWEST[:12]
    # Four partitions, ten entries each at first; one more read where a partition had more.
    assert reads.queries <= 6
    assert reads.evaluated <= 80
    assert at is not None
    with counted_reads() as reads:
        found, at = next(pages(newest, ScoreFilters(model_id="nobody"), 12, entries=60))
    assert (found, reads.evaluated) == ([], 60)
    assert at is not None
    with counted_reads() as reads:
        found, at = next(pages(newest, ScoreFilters(model_id="nobody"), 12, queries=5))
    assert (found, reads.queries) == ([], 5)
    assert at is not None


def test_what_is_decided_during_a_walk_moves_nothing_of_it(newest: NewestVerdicts) -> None:
    chance = random.Random(5)
    task_id = derived_id("task", "growing")
    there = [decided(number, task_id=task_id, completion_id=new_id("cmp")) for number in range(40)]
    store(there)
    at: NewestPosition | None = None
    listed: list[str] = []
    for _ in range(100):
        found, at = newest.page(task_id, ScoreFilters(), start=at, limit=3, allowance=Allowance())
        listed += [one.completion_id for one in found]
        if at is None:
            break
        later = [decided(100 + chance.randrange(900), completion_id=new_id("cmp"), task_id=task_id)]
        store(later)
    else:
        pytest.fail("the walk has no end")
    assert listed == [one.completion_id for one in reversed(there)]


def scores(platform: Platform, **query: Any) -> Answer:
    return platform.call("GET", "/api/v1/scores", query={"order": "newest", **query})


def test_the_route_lists_a_task_newest_first_with_or_without_what_was_judged(
    platform: Platform,
) -> None:
    with loopback_grader() as grader:
        task_id = platform.new_task(platform.new_grader(grader))
        submitted = []
        for n in range(6):
            completion = {"modelId": "m", "prompt": "p" * 1_200_000, "response": str(n)}
            made = platform.call("POST", "/api/v1/completions", {"taskId": task_id, **completion})
            submitted.append(made.json["completion"]["id"])
            platform.score_everything()
    expected = submitted[::-1]
    for include in ({}, {"include": "completion"}):
        listed: list[str] = []
        query = {"taskId": task_id, "limit": "50", **include}
        lengths = []
        while True:
            answer = scores(platform, **query)
            assert answer.status == 200, answer.text
            lengths.append(len(answer.json["scores"]))
            listed += [one["completionId"] for one in answer.json["scores"]]
            if answer.json["nextToken"] is None:
                break
            query["nextToken"] = answer.json["nextToken"]
        assert listed == expected
        # Texts of 7 MB do not fit into one answer: the token stands behind the last that did.
        assert (len(lengths) > 1) == bool(include)


def test_a_list_newest_first_is_of_one_task(platform: Platform) -> None:
    refused = scores(platform)
    assert refused.status == 422, refused.text
    assert [error["field"] for error in refused.json["errors"]] == ["taskId"]
    assert scores(platform, taskId=new_id("task")).status == 404
    wrong = platform.call("GET", "/api/v1/scores", query={"order": "oldest"})
    assert (wrong.status, wrong.json["errors"][0]["field"]) == (422, "order")


@pytest.mark.parametrize(
    "position",
    [
        ("newest", derived_id("task", "another"), f"2026#{SHORT}", SHORT, "verdict#x#1"),
        ("oldest", TASK, f"2026#{SHORT}", SHORT, "verdict#x#1"),
        ("newest", TASK, f"2026#{SHORT}", "cmp_x", "verdict#x#1"),
        ("newest", TASK, "2026", SHORT, "verdict#x#1"),
        ("newest", TASK, f"2026#{SHORT}", SHORT, "opinion#x#1"),
        (TASK, "0", f"2026#{SHORT}", SHORT, "verdict#x#1"),
    ],
)
def test_a_place_that_no_page_ended_at_is_refused(position: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequestError, match="nextToken"):
        NewestPosition.from_token(encode_cursor(*position), TASK)


def test_a_token_of_the_other_order_or_another_time_is_refused(platform: Platform) -> None:
    with loopback_grader() as grader:
        task_id = platform.new_task(platform.new_grader(grader))
    organization_id = platform.me()["organizationId"]
    store(
        decided(n, task_id=task_id, organization_id=organization_id, completion_id=new_id("cmp"))
        for n in range(9)
    )
    query = {"taskId": task_id, "limit": "2"}
    newest = scores(platform, **query).json["nextToken"]
    usual = platform.call("GET", "/api/v1/scores", query=query).json["nextToken"]
    assert scores(platform, **query, nextToken=newest).status == 200
    for answer in (
        scores(platform, **query, nextToken=usual),
        platform.call("GET", "/api/v1/scores", query={**query, "nextToken": newest}),
        scores(platform, **query, nextToken=newest, endDate="2026-05-01T00:00:00Z"),
    ):
        assert answer.status == 422, answer.text
        assert answer.json["errors"][0]["field"] == "nextToken"
