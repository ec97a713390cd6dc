"""What was lost is found: runs that nobody works on, records and messages that nobody got."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.routing import Model
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.environment.apprentice_runs import RunSweepEnvironment
from autotune_platform.wiring.apprentice_folding import RunSweepParts
from tests.support.apprentice_folding import DAY, NOON, Apprentice
from tests.support.lambdas import LambdaContext, handler
from tests.support.tables import items_of_tables

DEADLINE = timedelta(minutes=15)


class Later(Clock):
    def __init__(self):
        self.passed = timedelta(0)

    def now(self):
        return NOON + self.passed


@pytest.fixture
def sweep(apprentice):
    """Sweep so long after the runs were made."""
    sweeping = RunSweepParts(RunSweepEnvironment.parse()).run_sweeping
    sweeping.clock = Later()

    def run(after, has_time=lambda: True):
        sweeping.clock.passed = after
        return sweeping.sweep(has_time=has_time)

    return run


@pytest.fixture
def sent(apprentice):
    """Take the ids that the worker was sent."""
    return lambda: [record["body"] for record in apprentice.platform.queued("runs")]


def counts(apprentice):
    [found] = apprentice.evidence.days(apprentice.task.id, DAY, DAY)
    return found


def local(apprentice, **fields):
    return apprentice.answered(
        **{"answers": Model.LOCAL, "remote": None, "check": "due", "cost_nano_usd": 0, **fields}
    )


def test_a_run_that_nobody_works_on_ends_failed(apprentice, sweep):
    run = apprentice.run()
    apprentice.store([run])
    apprentice.follow()
    assert sweep(DEADLINE + timedelta(minutes=4)) == 0
    assert sweep(DEADLINE + timedelta(minutes=6)) == 1
    ended = apprentice.runs.get(run.id)
    assert (ended.state, ended.refusal) == ("failed", "remote_unavailable")
    assert ended.remote_fault.code == "deadline_passed"
    assert (counts(apprentice).failed, counts(apprentice).pending) == (1, 0)
    apprentice.follow()
    assert counts(apprentice).failed == 1
    assert sweep(timedelta(days=1)) == 0


def test_a_run_that_ended_and_was_not_counted_is_counted(apprentice, sweep):
    run = apprentice.run()
    apprentice.store([run])
    apprentice.follow()
    pairs = (RunPair(version=1, score=1, is_drawn=True),)
    ended = apprentice.answered(pairs=pairs).model_copy(update={"id": run.id})
    apprentice.runs.change(run, ended)
    assert sweep(DEADLINE * 2) == 1
    found = counts(apprentice)
    assert (found.remote, found.pending, found.versions[1].pairs) == (1, 0, 1)
    assert sweep(DEADLINE * 2) == 0


def test_an_answer_to_be_checked_is_sent_to_the_worker(apprentice, sent):
    run = local(apprentice)
    apprentice.store([run, apprentice.answered(1)])
    apprentice.follow()
    assert sent() == [run.id]
    done = run.model_copy(update={"check": "done"})
    assert apprentice.runs.change(run, done)
    apprentice.follow()
    assert sent() == []


def test_a_check_whose_message_was_lost_is_sent_again_for_a_day(apprentice, sweep, sent):
    run = local(apprentice)
    apprentice.store([run])
    apprentice.follow()
    sent()
    assert sweep(DEADLINE * 2) == 1
    assert sent() == [run.id]
    assert sweep(DEADLINE * 2) == 0
    assert sweep(DEADLINE * 4) == 1
    assert sent() == [run.id]
    assert sweep(timedelta(days=1, minutes=1)) == 1
    assert sent() == []
    assert apprentice.runs.get(run.id).check == "failed"
    assert (counts(apprentice).local, counts(apprentice).checks_failed) == (1, 1)
    assert sweep(timedelta(days=2)) == 0


def test_a_deletion_that_was_cut_off_is_finished(apprentice, sweep, monkeypatch):
    apprentice.store([apprentice.answered(1), apprentice.run()])
    apprentice.follow()
    path = f"/api/v1/apprentice/tasks/{apprentice.name}"
    with monkeypatch.context() as patched:
        patched.setattr(type(apprentice.evidence), "erase", _killed)
        with pytest.raises(KeyboardInterrupt):
            apprentice.platform.call("DELETE", path)
    assert apprentice.platform.call("GET", path).status == 404
    assert sweep(timedelta(days=10_000)) > 0
    assert [item["sk"]["S"] for item in items_of_tables()["apprentice"]] == ["counts"]


def test_a_run_that_cannot_be_swept_holds_up_no_other(apprentice, sweep, monkeypatch):
    pending = [apprentice.run() for _ in range(6)]
    apprentice.store(pending)
    apprentice.follow()
    sick = pending[2].id

    def counted(self, runs, count=RunFolding.count):
        if runs[0].id == sick:
            raise RuntimeError("sick")
        count(self, runs)

    monkeypatch.setattr(RunFolding, "count", counted)
    with pytest.raises(RuntimeError, match="sick"):
        sweep(DEADLINE * 2)
    assert all(apprentice.runs.get(run.id).has_ended for run in pending)
    # It is looked at again later, and behind others.
    assert sweep(DEADLINE * 2) == 0
    monkeypatch.undo()
    assert sweep(DEADLINE * 4) == 1
    assert counts(apprentice).failed == 6


def test_a_deletion_waits_for_runs_and_goes_on_as_far_as_there_is_time(apprentice, sweep):
    other = Apprentice(apprentice.platform, apprentice.connection_id, name="other")
    apprentice.store([apprentice.answered(1) for _ in range(3)])
    apprentice.follow()
    TaskRepository(apprentice.table).mark(apprentice.task, NOON - timedelta(days=1))
    run = other.run()
    other.store([run])
    other.follow()
    asked = []

    def has_time():
        asked.append(other.runs.get(run.id).has_ended)
        return len(asked) <= 3

    # Both entries and the deletion are asked about; there is none for the deletion's items.
    sweep(DEADLINE * 2, has_time=has_time)
    assert asked == [False, False, True, True]
    assert apprentice.task.state == "deleting"
    assert len(list(apprentice.evidence.pairs(apprentice.task.id, 1))) == 3
    sweep(DEADLINE * 2 + timedelta(minutes=1))
    assert TaskRepository(apprentice.table).find(apprentice.organization_id, "intents") is None


def test_a_deletion_that_takes_long_holds_up_no_other(apprentice, sweep, monkeypatch):
    other = Apprentice(apprentice.platform, apprentice.connection_id, name="other")
    tasks = TaskRepository(apprentice.table)
    tasks.mark(apprentice.task, NOON - timedelta(days=2))
    tasks.mark(other.task, NOON - timedelta(days=1))
    large, left = apprentice.task.id, [3]

    def erase(self, task_id, erase=EvidenceRepository.erase, **given):
        if task_id == large and left[0]:
            left[0] -= 1
            time.clear()
            return False
        return erase(self, task_id, **given)

    monkeypatch.setattr(EvidenceRepository, "erase", erase)
    time = {"left"}
    sweep(DEADLINE * 2, has_time=lambda: bool(time))
    assert tasks.find(apprentice.organization_id, "other") is not None
    time.add("left")
    sweep(DEADLINE * 2 + timedelta(minutes=1), has_time=lambda: bool(time))
    assert tasks.find(apprentice.organization_id, "other") is None
    time.add("left")
    sweep(DEADLINE * 2 + timedelta(minutes=2), has_time=lambda: bool(time))
    time.add("left")
    sweep(DEADLINE * 2 + timedelta(minutes=3), has_time=lambda: bool(time))
    assert tasks.find(apprentice.organization_id, "intents") is None


def test_a_deletion_that_fails_holds_up_no_other_and_waits_behind_them(
    apprentice, sweep, monkeypatch
):
    other = Apprentice(apprentice.platform, apprentice.connection_id, name="other")
    tasks = TaskRepository(apprentice.table)
    for one in (apprentice, other):
        tasks.mark(one.task, NOON - timedelta(days=1))
    sick = apprentice.task.id

    def erase(self, task_id, erase=EvidenceRepository.erase, **given):
        if task_id == sick:
            raise RuntimeError("sick")
        return erase(self, task_id, **given)

    with monkeypatch.context() as patched:
        patched.setattr(EvidenceRepository, "erase", erase)
        with pytest.raises(RuntimeError, match="sick"):
            sweep(DEADLINE * 2)
        assert tasks.find(apprentice.organization_id, "other") is None
        assert sweep(DEADLINE * 2) == 0
    assert tasks.find(apprentice.organization_id, "intents") is not None
    assert sweep(DEADLINE * 4) == 1
    assert tasks.find(apprentice.organization_id, "intents") is None


def test_a_sweep_ends_in_time(apprentice, sweep):
    apprentice.store(apprentice.run() for _ in range(3))
    apprentice.follow()
    assert sweep(DEADLINE * 2, has_time=lambda: False) == 0


def test_the_deployed_function_sweeps(apprentice):
    apprentice.store([apprentice.run(created_at=datetime.now(UTC) - timedelta(hours=1))])
    apprentice.follow()
    done = handler("functions.apprentice.sweep_runs")({}, LambdaContext())
    assert done == {"runs": 1}


def _killed(*_, **__):
    raise KeyboardInterrupt
