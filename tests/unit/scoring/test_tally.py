"""A tally knows places, and so counts nothing twice."""

from datetime import UTC, datetime, timedelta

from autotune_platform.projections.models import Tally
from autotune_platform.verdicts.models import Verdict

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def verdict(state: str, *, seconds: int = 0) -> Verdict:
    return Verdict.model_validate(
        {
            "completion_id": "cmp_1",
            "organization_id": "org_1",
            "batch_id": "bat_1",
            "task_id": "task_1",
            "model_id": "m",
            "grader_id": "grd_1",
            "grader_version": "1",
            "state": state,
            "submitted_at": NOW,
            "decided_at": NOW + timedelta(seconds=seconds),
        }
    )


def test_a_tally_holds_the_places_that_were_added() -> None:
    tally = Tally(batch_id="bat_1").after({0: verdict("scored"), 2: verdict("failed")})
    assert [tally.holds(place) for place in range(3)] == [True, False, True]
    assert (tally.count("scored"), tally.count("abstained"), tally.size) == (1, 0, 2)


def test_each_change_has_a_version_and_leaves_the_tally_before_it_as_it_was() -> None:
    first = Tally(batch_id="bat_1").after({0: verdict("scored")})
    second = first.after({1: verdict("scored")})
    assert (first.version, first.size) == (1, 1)
    assert (second.version, second.size) == (2, 2)


def test_opinions_have_slots_of_their_own_and_decide_nothing() -> None:
    slots = {Tally.slot(place, member) for place in range(500) for member in range(10)}
    assert len(slots) == 5_000
    tally = Tally(batch_id="bat_1").after({}, [Tally.slot(0, 1)])
    assert (tally.version, tally.size, tally.decided_at) == (1, 0, None)
    both = tally.after({0: verdict("scored")}, [Tally.slot(0, 0)])
    assert both.opinions == {Tally.slot(0, 0), Tally.slot(0, 1)}
    assert (both.size, both.decided_at) == (1, NOW)


def test_a_tally_is_as_late_as_its_latest_verdict_in_any_order() -> None:
    early, late = verdict("scored", seconds=1), verdict("canceled", seconds=9)
    empty = Tally(batch_id="bat_1")
    for first, second in ((early, late), (late, early)):
        tally = empty.after({0: first}).after({1: second})
        assert tally.decided_at == NOW + timedelta(seconds=9)
