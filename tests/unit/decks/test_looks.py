"""Rows under way are looked at ever more seldom, and never later than a quarter of an hour."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.decks.runs.looks import FIRST, LONGEST, is_due, looks_by, next_look

START = datetime(2026, 1, 1, tzinfo=UTC)
AGES = st.timedeltas(timedelta(0), timedelta(days=8))


@given(AGES)
def test_the_next_look_is_the_first_moment_that_is_due(age: timedelta) -> None:
    now = START + age
    at = next_look(START, now)
    gap = at - now
    assert timedelta(0) < gap <= max(FIRST, LONGEST)
    a_little = timedelta(milliseconds=5)
    assert is_due(START, now, at + a_little)
    assert not is_due(START, now, at - a_little)


@given(AGES, AGES)
def test_no_look_is_lost_between_two(first: timedelta, second: timedelta) -> None:
    early, late = sorted([first, second])
    assert looks_by(early) <= looks_by(late)
    assert is_due(START, START + early, START + late) == (looks_by(early) < looks_by(late))


def test_a_week_has_as_many_looks_as_an_execution_has_room_for() -> None:
    assert looks_by(timedelta(seconds=4)) == 0
    assert looks_by(timedelta(seconds=5)) == 1
    assert looks_by(timedelta(hours=2)) == 62
    assert looks_by(timedelta(days=7)) < 740


def test_what_was_asked_after_the_last_look_is_due_in_its_turn() -> None:
    asked_at = START + timedelta(minutes=5)
    assert not is_due(asked_at, START, asked_at + timedelta(seconds=4))
    assert is_due(asked_at, START, asked_at + timedelta(seconds=5))
