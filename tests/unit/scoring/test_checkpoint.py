"""A checkpoint has the indexes of counted completions, so that nothing is counted twice."""

from datetime import UTC, datetime, timedelta

from autotune_platform.projections.models import Checkpoint
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


def test_a_checkpoint_holds_the_indexes_that_were_added() -> None:
    checkpoint = Checkpoint(batch_id="bat_1").after({0: verdict("scored"), 2: verdict("failed")})
    assert [checkpoint.holds(index) for index in range(3)] == [True, False, True]
    assert (checkpoint.count("scored"), checkpoint.count("abstained"), checkpoint.size) == (1, 0, 2)


def test_each_change_has_a_version_and_leaves_the_checkpoint_before_it_as_it_was() -> None:
    first = Checkpoint(batch_id="bat_1").after({0: verdict("scored")})
    second = first.after({1: verdict("scored")})
    assert (first.version, first.size) == (1, 1)
    assert (second.version, second.size) == (2, 2)


def test_opinions_have_indexes_of_their_own_and_decide_nothing() -> None:
    indexes = {
        Checkpoint.opinion_index(index, member) for index in range(500) for member in range(10)
    }
    assert len(indexes) == 5_000
    checkpoint = Checkpoint(batch_id="bat_1").after({}, [Checkpoint.opinion_index(0, 1)])
    assert (checkpoint.version, checkpoint.size, checkpoint.decided_at) == (1, 0, None)
    both = checkpoint.after({0: verdict("scored")}, [Checkpoint.opinion_index(0, 0)])
    assert both.opinions == {Checkpoint.opinion_index(0, 0), Checkpoint.opinion_index(0, 1)}
    assert (both.size, both.decided_at) == (1, NOW)


def test_a_checkpoint_is_as_late_as_its_latest_verdict_in_any_order() -> None:
    early, late = verdict("scored", seconds=1), verdict("canceled", seconds=9)
    empty = Checkpoint(batch_id="bat_1")
    for first, second in ((early, late), (late, early)):
        checkpoint = empty.after({0: first}).after({1: second})
        assert checkpoint.decided_at == NOW + timedelta(seconds=9)
