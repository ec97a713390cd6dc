"""An instance is counted from when it is asked for until it is gone, and each second once."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.hosting.accounts import accounted
from autotune_platform.apprentice.hosting.models import Hosting

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
DAY = "2026-11-27"


def hosting(state, *, copies=1, kind="base", created=("endpoint",), until=None, error=None):
    return Hosting(
        name="autotune-base",
        kind=kind,
        task_id="apt_x",
        artifact="s3://bases/small/",
        instance_type="ml.g5.xlarge",
        idle_minutes=30,
        copies=copies,
        created=created,
        state=state,
        since=NOON,
        counted_until=until,
        error=error,
        due_at=NOON,
    )


def looked(before, after, *, minutes=10, **fields):
    """A look ten minutes after the one before."""
    was = hosting(before, until=NOON, copies=fields.pop("copies_before", 1))
    return accounted(was, hosting(after, **fields), NOON + timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        ("creating", "creating", None),  # until it is known what became of it
        ("creating", "ready", 600),
        ("creating", "deleting", 600),
        ("ready", "ready", 600),
        ("deleting", "deleting", 600),
        ("deleting", "gone", 600),
    ],
)
def test_time_is_counted_by_what_became_of_the_instance(before, after, counted):
    until, seconds = looked(before, after)
    assert seconds == ({} if counted is None else {DAY: counted})
    expected = NOON if counted is None else NOON + timedelta(minutes=10)
    assert until == (None if after == "gone" else expected)


def test_falling_asleep_is_counted_and_sleep_is_not():
    until, seconds = looked("ready", "resizing", copies=0)
    assert (until, seconds) == (NOON + timedelta(minutes=10), {DAY: 600})
    assert looked("resizing", "asleep", copies=0, copies_before=0) == (None, {DAY: 600})
    asleep = hosting("asleep", copies=0)
    assert accounted(asleep, asleep, NOON) == (None, {})
    assert accounted(asleep, hosting("deleting", copies=0), NOON) == (None, {})


def test_an_instance_that_was_not_to_be_had_costs_nothing():
    asleep, waking = hosting("asleep", copies=0), hosting("resizing")
    assert accounted(asleep, waking, NOON) == (NOON, {})
    assert looked("resizing", "resizing") == (NOON, {})
    assert looked("resizing", "ready") == (NOON + timedelta(minutes=10), {DAY: 600})
    assert looked("resizing", "asleep", copies=0) == (None, {})


@pytest.mark.parametrize("error", ["no_capacity", "limit", "refused"])
def test_an_instance_that_did_not_come_at_the_last_try_costs_nothing_either(error):
    assert looked("creating", "deleting", error=error) == (None, {})
    # One that had a component was there.
    created = ("endpoint", "component")
    counted = (NOON + timedelta(minutes=10), {DAY: 600})
    assert looked("creating", "deleting", error=error, created=created) == counted
    assert looked("creating", "deleting", error="failed") == counted


def test_a_copy_that_is_gone_was_there_until_it_was_last_seen():
    was, now = hosting("ready", until=NOON), NOON + timedelta(minutes=5)
    assert accounted(was, hosting("resizing", copies=0), now, is_missing=True) == (None, {})
    # Another one is asked for, and counts from now on if it comes.
    assert accounted(was, hosting("resizing"), now, is_missing=True) == (now, {})


def test_only_a_base_with_an_endpoint_has_an_instance():
    for other in (
        hosting("creating", created=()),
        hosting("ready", kind="adapter", created=("component",)),
    ):
        assert accounted(other, other, NOON) == (None, {})
    begun = hosting("creating")
    assert accounted(hosting("creating", created=()), begun, NOON) == (NOON, {})


def test_midnight_parts_what_is_counted():
    until, seconds = looked("ready", "ready", minutes=13 * 60)
    assert seconds == {DAY: 12 * 3_600, "2026-11-28": 3_600}
    assert until == datetime(2026, 11, 28, 1, tzinfo=UTC)


def test_what_is_rounded_up_is_counted_by_no_later_look():
    until, counted = NOON, 0
    for look in range(1, 101):
        was = hosting("ready", until=until)
        now = NOON + timedelta(seconds=20.3 * look)
        until, seconds = accounted(was, hosting("ready"), now)
        counted += seconds.get(DAY, 0)
    assert counted == 2_030
