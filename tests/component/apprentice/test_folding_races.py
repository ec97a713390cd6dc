"""Runs are folded once, whoever else folds them, is killed, or deletes their task meanwhile."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

import pytest

from autotune_platform.apprentice.evidence import folded
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.runtime.grouping import groups
from autotune_platform.wiring.apprentice_folding import FoldingParts
from tests.support.apprentice_folding import Apprentice
from tests.support.folded import counts, rebuilt, rules, stored
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes
from tests.support.tables import items_of_tables

LOW = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}


def test_two_shards_that_fold_at_once_lose_nothing(apprentice):
    dice = Random(3)
    runs = [apprentice.answered(dice.choice((0, 0.5, 1))) for _ in range(60)]
    apprentice.store(runs)
    parts = [apprentice.records()[place::3] for place in range(3)]
    shards = [FoldingParts(FoldingEnvironment.parse()).run_router for _ in parts]

    def follow(shard, records):
        for some in groups(records, 5):
            shard.route(some)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(follow, shards, parts))
    pairs = list(apprentice.evidence.pairs(apprentice.task.id, 1))
    assert [pair.sequence for pair in pairs] == list(range(1, 61))
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)
    assert counts(apprentice).remote == 60
    assert math.fsum(pair.score for pair in pairs) == math.fsum(run.pairs[0].score for run in runs)


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_whoever_is_killed_at_any_call_leaves_all_to_be_done_or_nothing(apprentice, moment):
    killer = Killer()
    number = 0
    for after in range(12):
        apprentice.store(apprentice.answered(score) for score in (1, 0, 0.5))
        number += 3
        killer.kill(moment, after=after)
        with suppress(Killed):
            apprentice.follow()
        killer.spare()
        forget_processes()
        apprentice.follow()
        assert stored(apprentice).sequence == number
        assert counts(apprentice).remote == number
        assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)


@pytest.fixture
def before_the_write(monkeypatch):
    """Have something happen just before a consumer's next transaction."""

    def install(rival):
        write = EvidenceRepository.write
        due = [rival]

        def written(self, writes):
            if due:
                due.pop()()
            return write(self, writes)

        monkeypatch.setattr(EvidenceRepository, "write", written)

    return install


def rival_of(apprentice):
    """Return another process, which follows all that there is."""
    consumer = FoldingParts(FoldingEnvironment.parse()).run_router
    return lambda: consumer.route(apprentice.records())


def test_a_run_that_another_one_counts_meanwhile_is_counted_once(apprentice, before_the_write):
    apprentice.store([apprentice.answered()])
    before_the_write(rival_of(apprentice))
    apprentice.follow()
    found = counts(apprentice)
    assert (found.begun, found.remote, found.examples) == (1, 1, 1)


def test_what_another_one_published_meanwhile_stays_published(apprentice, before_the_write):
    apprentice.put(thresholds=LOW)
    apprentice.store(apprentice.answered(1) for _ in range(60))
    apprentice.follow()
    apprentice.store([apprentice.answered(1)])
    [added] = apprentice.records()[-1:]
    apprentice.add_version(1, canary_at=60)
    [changed] = apprentice.records()[-1:]
    rival = FoldingParts(FoldingEnvironment.parse()).run_router
    before_the_write(lambda: rival.route([changed]))
    apprentice.follow([added])
    assert stored(apprentice).sequence == 61
    assert stored(apprentice).told_promotion == 60


def test_what_another_one_counts_of_additional_models_meanwhile_is_counted_once(
    apprentice, before_the_write
):
    run = apprentice.answered()
    apprentice.store([run])
    apprentice.follow()
    assert apprentice.table.add_together(apprentice.runs.paying_additional(run, 30))
    before_the_write(rival_of(apprentice))
    apprentice.follow()
    assert counts(apprentice).cost_additional == 30


def test_no_evidence_is_stored_by_rules_that_are_over(apprentice, before_the_write):
    apprentice.store(apprentice.answered(score) for score in (1, 0, 1))
    apprentice.follow()
    apprentice.store([apprentice.answered(1)])
    former, before = rules(apprentice), stored(apprentice)
    before_the_write(lambda: apprentice.put(thresholds=LOW))
    apprentice.follow(apprentice.records()[-1:])
    after = stored(apprentice)
    pairs = apprentice.evidence.pairs(apprentice.task.id, 1)
    assert (after.sequence, after.evidence(former)) == (4, folded(pairs, former))
    assert after.configuration_version == before.configuration_version
    apprentice.follow()
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)


def test_a_task_that_is_deleted_meanwhile_keeps_nothing(apprentice, before_the_write):
    apprentice.store([apprentice.answered(1)])
    path = f"/api/v1/apprentice/tasks/{apprentice.name}"
    before_the_write(lambda: apprentice.platform.call("DELETE", path))
    apprentice.follow()
    assert [item["pk"]["S"] for item in items_of_tables()["apprentice"]] == [
        f"{apprentice.organization_id}#tasks"
    ]


def test_a_run_that_comes_after_its_task_is_gone_goes_too(apprentice):
    run = apprentice.answered(1)
    apprentice.platform.call("DELETE", f"/api/v1/apprentice/tasks/{apprentice.name}")
    apprentice.store([run])
    apprentice.follow()
    assert apprentice.runs.get(run.id) is None


def test_the_beginning_of_a_run_that_comes_late_changes_nothing(apprentice):
    run = apprentice.run()
    apprentice.store([run])
    [begun] = apprentice.records()[-1:]
    ended = apprentice.answered(1).model_copy(update={"id": run.id})
    apprentice.runs.change(run, ended)
    apprentice.follow()
    apprentice.follow([begun])
    apprentice.follow()
    found = counts(apprentice)
    assert (found.begun, found.remote, found.pending) == (1, 1, 0)
    assert stored(apprentice).sequence == 1


def test_runs_of_a_task_that_cannot_be_counted_hold_up_no_other_task(apprentice, monkeypatch):
    other = Apprentice(apprentice.platform, apprentice.connection_id, name="other")
    other.add_version(1)
    apprentice.store([apprentice.answered(1)])
    other.store([other.answered(0.5)])
    sick = apprentice.task.id
    count = RunFolding._count

    def counted(self, organization_id, name, task_id, runs):
        if task_id == sick:
            raise RuntimeError("sick")
        count(self, organization_id, name, task_id, runs)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolding, "_count", counted)
        with pytest.raises(RuntimeError, match="sick"):
            apprentice.follow()
    assert (counts(other).begun, stored(other).sequence) == (1, 1)
    apprentice.follow()
    assert (counts(apprentice).begun, counts(other).begun) == (1, 1)
