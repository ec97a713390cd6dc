"""Many pairs are folded anew outside the stream, in steps, and nobody serves by former rules."""

import json
import time

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.evidence import folded
from autotune_platform.apprentice.folding import refolding
from autotune_platform.apprentice.folding.refolds import RefoldRepository
from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.standing import Standings
from autotune_platform.runtime.environment.apprentice_runs import RunSweepEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.apprentice_folding import RunSweepParts
from tests.support.apprentice_folding import NOON, Apprentice
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.platform import Platform

LOW = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}
HIGH = {**LOW, "phase2ToPhase3": 0.98, "coachingTrigger": 0.9}
QUICK = {"falseAlarmPairs": 100}
_MOST_CALLS = 40


@pytest.fixture
def apprentice(platform: Platform, ledger, monkeypatch):
    monkeypatch.setattr(refolding, "FEW_PAIRS", 10)
    monkeypatch.setattr(refolding, "STEP_PAIRS", 25)
    made = Apprentice(platform, ledger.connect())
    made.put(thresholds=LOW, confidence=QUICK)
    made.add_version(1)
    made.seen = 0
    return made


def follow(apprentice):
    """Deliver the records that are new."""
    records = apprentice.records()
    apprentice.follow(records[apprentice.seen :])
    apprentice.seen = len(records)


def fold(apprentice, *scores):
    apprentice.store(apprentice.answered(score) for score in scores)
    follow(apprentice)


def put(apprentice, thresholds, **confidence):
    apprentice.put(thresholds=thresholds, confidence={**QUICK, **confidence})
    follow(apprentice)


def rules(apprentice):
    answer = apprentice.platform.call("GET", f"/api/v1/apprentice/tasks/{apprentice.name}")
    return rules_of(answer.json["task"]["configuration"], attempt=1)


def stored(apprentice):
    return apprentice.evidence.find(apprentice.task.id, [1])[1]


def refold(apprentice):
    return RefoldRepository(apprentice.table).find(apprentice.task.id, 1)


def standing(apprentice):
    tasks = TaskRepository(apprentice.table)
    found = Standings(tasks=tasks, evidence=apprentice.evidence)
    return found.read(apprentice.organization_id, apprentice.name)


def sweep(*, has_time=lambda: True):
    """Sweep as another process does, after the millisecond in which the last one left off."""
    time.sleep(0.002)
    sweeping = RunSweepParts(RunSweepEnvironment.parse()).run_sweeping
    return sweeping.sweep(has_time=has_time)


def by_pairs(apprentice, by):
    return folded(apprentice.evidence.pairs(apprentice.task.id, 1), by)


def has_present(apprentice):
    present = rules(apprentice)
    return stored(apprentice).evidence(present) == by_pairs(apprentice, present)


def events(apprentice, *, canaries=False):
    """What was published so far, by kind and place; of canaries where that is asked for."""
    apprentice.platform.publish_events()
    query = {"limit": 200, "from": NOON.isoformat()}
    log = apprentice.platform.call("GET", "/api/v1/audit", query=query).json["entries"]
    left_out = set() if canaries else {"apprentice_canary"}
    found = [one for one in log if one["kind"] == "event" and one["action"] not in left_out]
    return [(one["action"], one["data"].get("kind"), one["data"].get("sequence")) for one in found]


def test_many_pairs_wait_for_the_sweep_and_few_do_not(apprentice):
    fold(apprentice, *[1, 1, 0, 1] * 2)
    put(apprentice, HIGH)
    assert (has_present(apprentice), refold(apprentice)) == (True, None)
    fold(apprentice, *[1, 0.5] * 30)
    former = rules(apprentice)
    put(apprentice, LOW)
    assert stored(apprentice).evidence(former) == by_pairs(apprentice, former)
    assert refold(apprentice).sequence == 0
    assert sweep() == 1
    assert has_present(apprentice)
    assert (refold(apprentice), sweep()) == (None, 0)


def test_the_stream_reads_no_pairs_where_many_are_to_be_folded_anew(apprentice, monkeypatch):
    fold(apprentice, *[1] * 40)
    apprentice.put(thresholds=HIGH, confidence=QUICK)
    read: list[str] = []
    before = Table.items
    monkeypatch.setattr(
        Table, "items", lambda self, pk, **more: read.append(pk) or before(self, pk, **more)
    )
    seen = [r for r in apprentice.records() if r["dynamodb"]["Keys"]["sk"]["S"].startswith("conf")]
    apprentice.follow(seen)
    assert read
    assert not [pk for pk in read if "#pairs#" in pk]


def test_a_sweep_that_has_no_more_time_is_gone_on_with(apprentice):
    fold(apprentice, *[1, 0.5] * 40)
    put(apprentice, HIGH)
    came_to = []
    while (found := refold(apprentice)) is not None:
        came_to.append(found.sequence)
        left = [True, True]  # one entry is looked at, and one step is made
        sweep(has_time=lambda: bool(left) and left.pop())  # noqa: B023
        assert len(came_to) < 9
    assert came_to == [0, 25, 50, 75]
    assert has_present(apprentice)


def test_whoever_is_killed_at_any_call_loses_no_pair(apprentice):
    fold(apprentice, *[1, 0.5, 1] * 12)
    killer = Killer()
    for place in range(_MOST_CALLS):
        put(apprentice, (HIGH, LOW)[place % 2])
        killer.kill("before-call", after=place)
        try:
            sweep()
        except Killed:
            killer.spare()
        else:
            killer.spare()
            assert place > 9
            break
        # What was killed holds an entry for as long as a sweep lasts.
        go_on = RunSweepParts(RunSweepEnvironment.parse()).refolding.go_on
        while not go_on(apprentice.task.id, 1):
            pass
        assert has_present(apprentice), place
        assert refold(apprentice) is None
    else:
        pytest.fail("it has more calls")


def test_pairs_that_come_meanwhile_keep_their_order_and_are_folded_too(apprentice):
    fold(apprentice, *[1, 0.5] * 20)
    former = rules(apprentice)
    put(apprentice, HIGH)
    go_on = RunSweepParts(RunSweepEnvironment.parse()).refolding.go_on
    assert not go_on(apprentice.task.id, 1)
    fold(apprentice, 0, 1, 0.25)
    assert stored(apprentice).evidence(former) == by_pairs(apprentice, former)
    assert stored(apprentice).sequence == 43
    assert go_on(apprentice.task.id, 1)
    assert has_present(apprentice)
    fold(apprentice, 1)
    assert has_present(apprentice)


def test_nobody_serves_or_is_promoted_by_evidence_of_former_thresholds(apprentice):
    fold(apprentice, *[0.8] * 90)
    apprentice.add_version(1, canary_at=90)
    follow(apprentice)
    assert standing(apprentice).derived.serving == 1
    told = events(apprentice)
    assert [name for name, *_ in told] == ["model_promoted"]
    apprentice.put(thresholds=HIGH, confidence=QUICK)
    for _ in range(2):
        assert standing(apprentice).derived.serving is None
        path = f"/api/v1/apprentice/tasks/{apprentice.name}/versions/1/promote"
        assert apprentice.platform.call("POST", path).status == 503
        fold(apprentice, 1)  # also while pairs go on by the former thresholds
    assert sweep() == 1
    assert standing(apprentice).versions[1].version.stage is Stage.SHADOW
    assert apprentice.platform.call("POST", path).status == 409
    assert events(apprentice) == told


def test_a_promotion_by_the_present_thresholds_is_told_once_all_is_folded(apprentice):
    apprentice.put(thresholds=HIGH, confidence=QUICK)
    fold(apprentice, *[0.8] * 90)
    apprentice.add_version(1, canary_at=90)
    put(apprentice, LOW)
    assert events(apprentice) == []
    for _ in range(2):
        sweep()
        follow(apprentice)
        assert [name for name, *_ in events(apprentice, canaries=True)] == ["model_promoted"]
    assert standing(apprentice).derived.serving == 1


def test_an_alarm_of_a_pair_that_came_meanwhile_is_told_and_no_earlier_one(apprentice):
    """By the present thresholds there were alarms long before: they were none when pairs came."""
    fold(apprentice, *[1] * 60, *[0.52] * 60, *[1] * 100)
    assert events(apprentice) == []
    put(apprentice, {**LOW, "coachingTrigger": 0.59})
    fold(apprentice, *[0.3] * 30)
    assert events(apprentice) == []
    sweep()
    assert has_present(apprentice)
    assert json.loads(stored(apprentice).state)["alarms"] > 1
    [(action, kind, sequence)] = events(apprentice)
    assert (action, kind) == ("apprentice_alarm", "alarm")
    assert sequence > 220
    assert stored(apprentice).told_alarm == sequence


def test_rules_that_change_again_begin_anew_and_former_ones_that_return_hold_at_once(apprentice):
    fold(apprentice, *[1, 0.5] * 20)
    former = stored(apprentice)
    go_on = RunSweepParts(RunSweepEnvironment.parse()).refolding.go_on
    for thresholds in (HIGH, {**HIGH, "coachingTrigger": 0.8}):
        put(apprentice, thresholds)
        assert not go_on(apprentice.task.id, 1)
        assert refold(apprentice).sequence == 25
    apprentice.put(thresholds=LOW, confidence=QUICK)
    assert standing(apprentice).versions[1].is_refolded
    assert go_on(apprentice.task.id, 1)
    assert (stored(apprentice), refold(apprentice)) == (former, None)


def test_a_window_alone_is_another_one(apprentice):
    fold(apprentice, *[1] * 30, *[0] * 30)
    wide = stored(apprentice).figures(0).mean
    put(apprentice, LOW, windowSize=20)
    assert stored(apprentice).figures(0).mean == wide == 0.5
    sweep()
    assert stored(apprentice).figures(0).mean == 0
    assert has_present(apprentice)


def test_of_two_sweeps_one_goes_on(apprentice):
    fold(apprentice, *[1, 0.5] * 20)
    put(apprentice, HIGH)
    first, second = (RunSweepParts(RunSweepEnvironment.parse()).refolding for _ in range(2))
    write = first.refolds.write

    def overtaken(after, **more):
        if after.sequence:
            assert not second.go_on(apprentice.task.id, 1)
        return write(after, **more)

    first.refolds.write = overtaken
    assert first.go_on(apprentice.task.id, 1)  # it leaves the rest to the other
    assert refold(apprentice).sequence == 25
    assert second.go_on(apprentice.task.id, 1)
    assert has_present(apprentice)


def test_a_record_that_was_lost_is_made_up_for_by_the_next_pair(apprentice):
    fold(apprentice, *[1, 0.5] * 20)
    seen = len(apprentice.records())
    apprentice.put(thresholds=HIGH, confidence=QUICK)
    apprentice.store([apprentice.answered(1)])
    runs = [r for r in apprentice.records()[seen:] if r["dynamodb"]["Keys"]["sk"]["S"] == "run"]
    apprentice.follow(runs)
    assert sweep() == 1
    assert has_present(apprentice)


def test_what_is_left_of_a_deleted_task_goes(apprentice):
    fold(apprentice, *[1] * 30)
    put(apprentice, HIGH)
    left = stored(apprentice)
    path = f"/api/v1/apprentice/tasks/{apprentice.name}"
    task_id = apprentice.task.id
    assert apprentice.platform.call("DELETE", path).status == 204
    repository = RefoldRepository(apprentice.table)
    assert repository.find(task_id, 1) is None
    parts = RunSweepParts(RunSweepEnvironment.parse())
    repository.open(left, due_at=parts.refolding.clock.now() - refolding.SWEPT_AFTER)
    assert sweep() == 1
    assert repository.find(task_id, 1) is None


def test_the_function_folds_anew(apprentice):
    fold(apprentice, *[1, 0.5] * 20)
    put(apprentice, HIGH)
    forget_processes()
    assert handler("functions.apprentice.sweep_runs")({}, LambdaContext(300)) == {"runs": 1}
    assert has_present(apprentice)
