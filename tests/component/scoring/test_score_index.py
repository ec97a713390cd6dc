"""The one index answers every filter, at a cost that the number of scores has no part in."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.protocol.ids import derived_id
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import Allowance
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.wiring.completions import VerdictParts
from tests.support.platform import platform as make_platform
from tests.support.verdicts import FIRST, GRADERS, MODELS, TASK, counted_reads, store, verdict

STORED = [verdict(number) for number in range(120)]


@pytest.fixture(scope="module")
def service() -> Iterator[VerdictService]:
    with pytest.MonkeyPatch.context() as patched, make_platform(patched):
        store(STORED)
        store([verdict(0, task_id=derived_id("task", "another"), completion_id="cmp_" + "0" * 26)])
        yield VerdictParts(ContentEnvironment.parse()).verdicts


def walk(service: VerdictService, filters: ScoreFilters, limit: int) -> list[Verdict]:
    found: list[Verdict] = []
    token = None
    while True:
        page, token = service.matching(TASK, filters, limit=limit, next_token=token)
        assert len(page) <= limit
        found += page
        if token is None:
            return found


def matches(verdict: Verdict, filters: ScoreFilters) -> bool:
    """Say in plain Python what a filter means."""
    ranged = filters.min_score is not None or filters.max_score is not None
    return (
        filters.model_id in (None, verdict.model_id)
        and filters.grader_id in (None, verdict.grader_id)
        and filters.state in (None, verdict.state)
        and (verdict.value is not None or not ranged)
        and (filters.min_score is None or (verdict.value or 0) >= filters.min_score)
        and (filters.max_score is None or (verdict.value or 0) <= filters.max_score)
        and (filters.start is None or verdict.decided_at >= filters.start)
        and (filters.end is None or verdict.decided_at < filters.end)
    )


def ids(verdicts: list[Verdict]) -> list[str]:
    return sorted(verdict.completion_id for verdict in verdicts)


def optional(values: Any) -> Any:
    return st.none() | values


scores = optional(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0, STORED[7].value, STORED[9].value]))
# Quarters of seconds are when verdicts are; microseconds beside them are the edges.
moments = optional(
    st.builds(
        lambda quarter, beside: FIRST + timedelta(milliseconds=250 * quarter, microseconds=beside),
        st.integers(-4, 124),
        st.sampled_from([-1, 0, 0, 0, 1]),
    )
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    filters=st.builds(
        ScoreFilters,
        model_id=optional(st.sampled_from([*MODELS, "nobody"])),
        grader_id=optional(st.sampled_from(GRADERS)),
        state=optional(st.sampled_from(["scored", "abstained", "failed"])),
        min_score=scores,
        max_score=scores,
        start=moments,
        end=moments,
    ),
    limit=st.sampled_from([30, 200]),
)
def test_a_walk_tells_exactly_what_the_filters_mean(
    service: VerdictService, filters: ScoreFilters, limit: int
) -> None:
    expected = [each for each in STORED if matches(each, filters)]
    assert ids(walk(service, filters, limit)) == ids(expected)


def test_every_filter_leaves_something_in_and_something_out(service: VerdictService) -> None:
    for filters in (
        ScoreFilters(model_id=MODELS[0]),
        ScoreFilters(grader_id=GRADERS[0]),
        ScoreFilters(min_score=0.5),
        ScoreFilters(max_score=0.5),
        ScoreFilters(start=FIRST + timedelta(seconds=10)),
        ScoreFilters(end=FIRST + timedelta(seconds=10)),
        ScoreFilters(state="abstained"),
    ):
        assert 0 < len(walk(service, filters, 200)) < len(STORED)


def test_a_range_of_time_is_a_range_of_keys(service: VerdictService) -> None:
    second = ScoreFilters(start=FIRST + timedelta(seconds=20), end=FIRST + timedelta(seconds=21))
    with counted_reads() as reads:
        assert len(walk(service, second, 50)) == 4
    assert (reads.queries, reads.evaluated) == (4, 4)


def test_a_page_without_filters_reads_what_it_tells(service: VerdictService) -> None:
    with counted_reads() as reads:
        page, token = service.matching(TASK, ScoreFilters(), limit=20, next_token=None)
    assert (len(page), reads.queries, reads.evaluated) == (20, 1, 20)
    assert token is not None


def test_a_page_ends_when_its_allowance_is_spent(service: VerdictService) -> None:

    nobody = ScoreFilters(model_id="nobody")
    for allowance, cost in (
        (Allowance(entries=100), 100),
        (Allowance(queries=2), 4 + 16),
    ):
        with counted_reads() as reads:
            page, token = service.matching(
                TASK, nobody, limit=4, next_token=None, allowance=allowance
            )
        assert (page, reads.evaluated) == ([], cost)
        assert token is not None


@pytest.mark.parametrize(
    "position",
    [
        ("9", "", "", ""),
        ("²", "", "", ""),
        ("0", "x", "y", "z"),
        ("0", "", STORED[0].completion_id, ""),
        # Of another partition than this completion's, which the store would take for a place.
        *(
            (str(n), f"2026#{'cmp_' + '7' * 26}", "cmp_" + "7" * 26, "verdict#x#1")
            for n in range(3)
        ),
    ],
)
def test_a_place_that_no_page_ended_at_is_refused(
    service: VerdictService, position: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidRequestError, match="nextToken"):
        service.matching(TASK, ScoreFilters(), limit=5, next_token=encode_cursor(TASK, *position))


def test_a_token_of_another_task_or_another_time_is_refused(service: VerdictService) -> None:
    _, token = service.matching(TASK, ScoreFilters(), limit=5, next_token=None)
    other = derived_id("task", "another")
    for task_id, filters in (
        (other, ScoreFilters()),
        (TASK, ScoreFilters(start=FIRST + timedelta(days=1))),
        (TASK, ScoreFilters(end=FIRST)),
    ):
        with pytest.raises(InvalidRequestError, match="nextToken"):
            service.matching(task_id, filters, limit=5, next_token=token)
