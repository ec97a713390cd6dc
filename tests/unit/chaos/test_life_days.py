"""What belongs to a day counts in it, and what is moved to another one is found."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from autotune_platform.runtime.clock import SYSTEM_CLOCK
from tests.chaos import life_days as days
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.life_clock import TurnedClock, last_sunday
from tests.unit.chaos.test_life_invariants import training

MIDNIGHT = datetime(2027, 2, 1, tzinfo=UTC)
YESTERDAY, TODAY = ["2027-01-31", "2027-W04", "2027-01"], ["2027-02-01", "2027-W05", "2027-02"]


def row(id_: str, periods: list[str], cost: int, *, ends: timedelta) -> dict[str, Any]:
    return {
        "pk": id_,
        "sk": "state",
        "apprentice_run_id": "apr_1",
        "apprentice_task_id": "apt_1",
        "periods": periods,
        "cost_nano_usd": float(cost),
        "updated_at": (MIDNIGHT + ends).isoformat(),
    }


ROWS = [
    row("llm_1", YESTERDAY, 5, ends=-timedelta(minutes=1)),
    row("llm_2", YESTERDAY, 7, ends=timedelta(seconds=5)),
    row("llm_3", TODAY, 2, ends=timedelta(seconds=9)),
]


def item(*, yesterday: int = 12, today: int = 2, open_: int = 0) -> dict[str, Any]:
    """Return a scope that spent so much, and has more set aside of yesterday."""
    spent = {**dict.fromkeys(YESTERDAY, yesterday), **dict.fromkeys(TODAY, today)}
    more = dict.fromkeys(YESTERDAY, open_)
    return {
        **{f"spent#{one}": float(n) for one, n in spent.items()},
        **{f"committed#{one}": float(n + more.get(one, 0)) for one, n in spent.items()},
        "day": 9.0,
    }


def test_money_is_settled_in_the_day_that_it_was_taken_from() -> None:
    def found(**changes: int) -> int:
        scopes = {"org_1": item(), "org_1#apt_1": item(**changes)}
        check = days.money_is_settled_where_it_was_taken
        return len(check(Kept.of([], ROWS), scopes).violations)

    assert found() == 0
    # What was called for yesterday was booked today, or given back to today's.
    assert found(yesterday=5, today=9) == 6
    assert found(open_=8) == 3
    other = days.money_is_settled_where_it_was_taken(Kept.of([], ROWS), {"org_1#apt_2": item()})
    assert len(other.violations) == 6


def test_a_job_is_paid_as_it_is_billed() -> None:
    def found(**fields: Any) -> list[str]:
        jobs = [
            {
                "HyperParameters": {"training_id": "trn_1"},
                "ResourceConfig": {"InstanceType": "ml.g5.xlarge"},
                "BillableTimeInSeconds": seconds,
            }
            for seconds in (3, 4)
        ]
        one = training(1, "failed", **{"error": "job_stopped", **fields})
        return list(days.jobs_are_paid_as_billed([one], jobs, lambda _: 7_200).violations)

    assert not found(billable_seconds=7, spent_nano_usd=14)
    assert found() == ["trn_1 paid 0 for 0 s, but SageMaker bills 14 for 7 s"]
    assert found(billable_seconds=7, spent_nano_usd=13)
    assert not found(error="platform_error")


def test_what_was_under_way_at_midnight_is_counted() -> None:
    runs = [
        {
            "pk": id_,
            "sk": "run",
            "created_at": (MIDNIGHT - began).isoformat(),
            "ended_at": (MIDNIGHT + timedelta(seconds=5)).isoformat(),
        }
        for id_, began in (("apr_1", timedelta(minutes=1)), ("apr_2", -timedelta(seconds=1)))
    ]
    assert days.ended_after(Kept.of(runs, ROWS), MIDNIGHT) == {
        "calls under way at midnight": 1,
        "runs under way at midnight": 1,
    }


def test_the_midnight_of_chaos_ends_a_week_and_a_month_too() -> None:
    assert last_sunday(date(2026, 11, 28)) == date(2027, 1, 31)
    assert last_sunday(date(2027, 1, 30)) == date(2027, 1, 31)
    assert last_sunday(date(2027, 1, 31)) == date(2027, 2, 28)
    assert last_sunday(date(2026, 12, 31)) == date(2027, 1, 31)


def test_the_clock_is_turned_forward_alone() -> None:
    clock = TurnedClock()
    assert clock.midnight.weekday() == 0
    assert not clock.is_past_midnight
    with clock.read_by_all():
        assert clock.midnight - SYSTEM_CLOCK.now() > timedelta(hours=3)
        clock.turn_to(clock.midnight)
        clock.turn_to(clock.midnight - timedelta(hours=1))
        assert clock.is_past_midnight
        assert SYSTEM_CLOCK.now() >= clock.midnight
    assert SYSTEM_CLOCK.now() < clock.midnight
