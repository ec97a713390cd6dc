"""Limits and timings of connections: what may be set, what holds then, and for which jobs."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger.batching import polling
from autotune_platform.ledger.job_limits import PROVIDER_LIMITS, OwnLimits, limits_of
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from autotune_platform.ledger.jobs.registry import provider_jobs
from autotune_platform.ledger.timings import Timings
from tests.component.ledger.test_jobs import assert_paid_once, connect, enqueue, read_all
from tests.support.ledger import KEY, Ledger

PATH = "/api/v1/llm-connections"
USUAL = {
    "pollLeastSeconds": 60,
    "pollMostSeconds": 1_800,
    "visibilitySeconds": 900,
    "patienceSeconds": 900,
    "lostAfterSeconds": 259_200,
    "resultsWithinSeconds": 3_600,
    "overdueSeconds": 3_600,
    "putOffSeconds": 600,
}
NONE = {
    "enqueuedTokens": {},
    "enqueuedRows": None,
    "openJobs": None,
    "creationsPerHour": None,
}


def change(ledger: Ledger, connection: str, **fields: Any) -> dict[str, Any]:
    answer = ledger.platform.call("PATCH", f"{PATH}/{connection}", fields)
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["connection"]
    return {
        "limits": NONE | found["limits"],
        **{n: found[n] for n in ("timings", "settingsVersion")},
    }


@pytest.mark.parametrize(
    ("provider", "fields", "named", "says"),
    [
        ("openai", {"limits": {"creationsPerHour": 2_001}}, "limits.creationsPerHour", "2000"),
        ("openai", {"limits": {"openJobs": 0}}, "limits.openJobs", "greater than or equal to 1"),
        ("openai", {"limits": {"openJobs": "many"}}, "limits.openJobs", "integer"),
        ("openai", {"limits": {"enqueuedRows": 19}}, "limits.enqueuedRows", "at least 20"),
        ("openai", {"limits": {"surprise": 1}}, "limits.surprise", ""),
        (
            "openai",
            {"limits": {"enqueuedTokens": {"gpt-5": 999}}},
            "limits.enqueuedTokens.gpt-5",
            "1000",
        ),
        ("gemini", {"limits": {"openJobs": 101}}, "limits.openJobs", "at most 100"),
        ("azure", {"limits": {"openJobs": 501}}, "limits.openJobs", "at most 500"),
        ("anthropic", {"limits": {"enqueuedRows": 500_001}}, "limits.enqueuedRows", "500000"),
        (
            "anthropic",
            {"limits": {"enqueuedTokens": {"m": 5_000}}},
            "limits.enqueuedTokens",
            "counts no enqueued tokens",
        ),
        ("simulated", {"limits": {"openJobs": 3}}, "limits.openJobs", "no batch jobs"),
        ("openai", {"timings": {"visibilitySeconds": 299}}, "timings.visibilitySeconds", "300"),
        ("openai", {"timings": {"overdueSeconds": -1}}, "timings.overdueSeconds", "0"),
        ("openai", {"timings": {"pollMostSeconds": 3_601}}, "timings.pollMostSeconds", "3600"),
        (
            "openai",
            {"timings": {"pollLeastSeconds": 1_801}},
            "timings.pollLeastSeconds",
            "at most pollMostSeconds, 1800",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(
    ledger: Ledger, provider: str, fields: dict[str, Any], named: str, says: str
) -> None:
    body = {"name": "n", "provider": provider, "apiKey": KEY, "baseUrl": ledger.fake.base_url}
    answer = ledger.platform.call("POST", PATH, {**body, "minRows": 20, **fields})
    assert answer.status == 422, answer.text
    assert says in answer.fields[named], answer.fields


def test_fields_that_are_left_out_stay_and_null_is_back_to_what_holds_without_them(
    ledger: Ledger,
) -> None:
    connection = connect(ledger, "openai")
    usual = NONE | {"creationsPerHour": 2_000}
    made = change(ledger, connection)
    assert made == {"limits": usual, "timings": USUAL, "settingsVersion": 1}
    tokens = {"gpt-5": 900_000, "gpt-5-mini": 5_000_000}
    limits = {"enqueuedTokens": tokens, "openJobs": 3, "creationsPerHour": 10}
    set_ones = change(ledger, connection, limits=limits, timings={"pollMostSeconds": 300})
    assert set_ones["limits"] == usual | limits
    assert set_ones["timings"] == USUAL | {"pollMostSeconds": 300}
    fewer = {"enqueuedTokens": {"gpt-5": 1_000}, "creationsPerHour": None}
    again = change(ledger, connection, limits=fewer, timings={"pollLeastSeconds": 20})
    assert again["limits"] == usual | {"enqueuedTokens": {"gpt-5": 1_000}, "openJobs": 3}
    assert again["timings"] == USUAL | {"pollMostSeconds": 300, "pollLeastSeconds": 20}
    back = change(ledger, connection, timings={"pollMostSeconds": None, "pollLeastSeconds": None})
    assert (back["timings"], back["settingsVersion"]) == (USUAL, 4)
    assert change(ledger, connection, name="other")["settingsVersion"] == 4
    assert change(ledger, connection, apiKey="fake-key-2")["settingsVersion"] == 4
    assert change(ledger, connection, limits={"openJobs": 3})["settingsVersion"] == 4
    assert change(ledger, connection, concurrency=3)["settingsVersion"] == 5


def test_a_batch_says_with_which_settings_it_was_made(ledger: Ledger) -> None:
    connection = connect(ledger, "openai")
    ledger.enqueue(connection, "q", model="gpt-5-mini")
    ledger.run_jobs()
    change(ledger, connection, timings={"pollMostSeconds": 300})
    ledger.enqueue(connection, "r", model="gpt-5-mini")
    ledger.run_jobs()
    assert [one["settingsVersion"] for one in ledger.batches()] == [2, 1]


def test_each_provider_with_jobs_has_its_limits_with_a_source_and_a_date() -> None:
    assert {one for one in PROVIDER_LIMITS if provider_jobs(one)} == set(PROVIDER_LIMITS)
    for provider, given in PROVIDER_LIMITS.items():
        assert given.source.startswith("https://"), provider
        assert given.read_on.year >= 2026
    assert limits_of("gemini", OwnLimits()).open_jobs == 100
    assert limits_of("openai", OwnLimits()).creations_per_hour == 2_000
    assert limits_of("azure", OwnLimits(open_jobs=7)).open_jobs == 7
    assert limits_of("simulated", OwnLimits()).open_jobs is None


def test_a_job_is_looked_at_after_a_tenth_of_its_age_between_two_bounds() -> None:
    timings = Timings(poll_least_seconds=20, poll_most_seconds=300)
    found = [timings.poll_after(timedelta(seconds=age)) for age in (0, 100, 1_000, 2_990, 90_000)]
    assert found == [20, 20, 100, 299, 300]


def test_a_job_is_looked_at_as_often_as_its_connection_says(ledger: Ledger) -> None:
    looks = []
    for most in (60, 3_600):
        ledger.fake.world.timing.run_seconds = 4 * 3_600
        before = ledger.fake.world.requests["openai.get"]
        timings = {"pollMostSeconds": most, "pollLeastSeconds": 60}
        enqueue(ledger, "openai", count=1, timings=timings)
        ledger.run_jobs()
        looks.append(ledger.fake.world.requests["openai.get"] - before)
    assert looks[0] > 180
    assert looks[1] < 50


@pytest.mark.parametrize(
    ("first", "then", "at_least", "at_most"),
    [
        (300, None, 300, 900),
        (1_800, None, 1_800, 2_700),
        # What is lowered while a creation is unclear does not hold for it; what is raised does.
        (1_800, 300, 1_800, 2_700),
        (300, 1_800, 1_800, 2_700),
    ],
)
def test_a_job_is_created_again_once_it_could_be_seen(
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    first: int,
    then: int | None,
    at_least: int,
    at_most: int,
) -> None:
    ledger.fake.world.traps.arm(name="create_500", times=1)
    create, asked = OpenAiJobs.create, []

    def created(self: Any, *args: Any) -> Any:
        asked.append(ledger.passed)
        return create(self, *args)

    monkeypatch.setattr(OpenAiJobs, "create", created)
    connection = connect(ledger, "openai", timings={"visibilitySeconds": first})
    ids = ledger.enqueue(connection, "q", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.05)
    if then is not None:
        change(ledger, connection, timings={"visibilitySeconds": then})
    ledger.run_jobs()
    assert len(asked) == 2
    assert at_least <= asked[1] - asked[0] < at_most
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


def test_rows_that_were_too_many_wait_as_long_as_their_connection_says(ledger: Ledger) -> None:
    ledger.fake.world.traps.arm(name="token_limit", times=1)
    ids = enqueue(ledger, "openai", timings={"putOffSeconds": 7_200})
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=1.5)
    assert {one["status"] for one in read_all(ledger, ids)} == {"queued"}
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("within", [60, 7_200])
def test_results_are_waited_for_as_long_as_their_connection_says(
    ledger: Ledger, within: int
) -> None:
    ledger.fake.world.traps.arm(name="output_id_later", times=1, params={"seconds": 3_000})
    ids = enqueue(ledger, "openai", count=2, timings={"resultsWithinSeconds": within})
    ledger.run_jobs()
    attempts = {one["attempt"] for one in read_all(ledger, ids)}
    assert attempts == ({2} if within == 60 else {1})


@pytest.mark.parametrize(("overdue", "asked"), [(0, 1), (7_200, 0)])
def test_a_job_that_is_overdue_is_asked_to_end_when_its_connection_says(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, overdue: int, asked: int
) -> None:
    monkeypatch.setattr(polling, "ends_within", lambda _: timedelta(hours=1))
    ledger.fake.world.timing.run_seconds = 10 * 3_600
    connection = connect(ledger, "openai", timings={"overdueSeconds": overdue})
    ledger.enqueue(connection, "q", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=1.6)
    assert ledger.fake.world.requests["openai.cancel"] == asked
