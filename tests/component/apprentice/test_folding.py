"""Ended runs become counts, pairs and evidence, each once."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from random import Random

import pytest

from autotune.protocol.limits import MAX_MATCH_FIELDS
from autotune_platform.apprentice.evidence import folded
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.items import runs_of
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.runtime.grouping import groups
from autotune_platform.wiring.apprentice_folding import FoldingParts
from tests.support.apprentice_folding import NOON, Apprentice
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes
from tests.support.tables import items_of_tables

DAY = "2026-11-27"
LOW = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}


@pytest.fixture
def apprentice(platform, ledger):
    made = Apprentice(platform, ledger.connect())
    made.add_version(1)
    return made


def counts(apprentice, day=DAY):
    [found] = apprentice.evidence.days(apprentice.task.id, day, day)
    return found


def stored(apprentice, version=1):
    return apprentice.evidence.find(apprentice.task.id, [version]).get(version)


def rules(apprentice, attempt=1):
    answer = apprentice.platform.call("GET", f"/api/v1/apprentice/tasks/{apprentice.name}")
    return rules_of(answer.json["task"]["configuration"], attempt=attempt)


def rebuilt(apprentice, version=1, attempt=1):
    pairs = apprentice.evidence.pairs(apprentice.task.id, version)
    return folded(pairs, rules(apprentice, attempt))


def test_pairs_are_numbered_and_folded(apprentice):
    apprentice.store(apprentice.answered(score) for score in (1, 0.5, 0))
    apprentice.follow()
    pairs = list(apprentice.evidence.pairs(apprentice.task.id, 1))
    assert [pair.sequence for pair in pairs] == [1, 2, 3]
    assert sorted(pair.score for pair in pairs) == [0, 0.5, 1]
    assert stored(apprentice).sequence == 3
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)


def test_records_that_come_again_change_nothing(apprentice):
    apprentice.store(apprentice.answered(score) for score in (1, 0.5, 0))
    apprentice.follow()
    before = stored(apprentice), counts(apprentice)
    apprentice.follow()
    apprentice.follow(apprentice.records()[::-1], at_once=1)
    assert (stored(apprentice), counts(apprentice)) == before


def test_a_run_is_counted_by_who_answered_it(apprentice):
    local = {"answers": Model.LOCAL, "local": Local.ANSWERED, "remote": None, "is_drawn": False}
    apprentice.store(
        [
            apprentice.run(),
            apprentice.answered(),
            apprentice.answered(**local, cost_nano_usd=0),
            apprentice.answered(**local, cost_nano_usd=0, unmonitored=True),
            apprentice.answered(escalated=True, local=Local.UNSURE),
            apprentice.run(state="refused", refusal="budget_exhausted", ended_at=NOON),
            apprentice.run(
                state="failed",
                refusal="remote_unavailable",
                remote=Remote.FAILED,
                ended_at=NOON,
                cost_nano_usd=7,
            ),
        ]
    )
    apprentice.follow()
    found = counts(apprentice)
    assert (found.begun, found.local, found.remote) == (7, 2, 2)
    assert (found.refused, found.failed, found.pending) == (1, 1, 1)
    assert (found.escalated, found.unmonitored, found.examples) == (1, 1, 2)
    assert (found.cost_answers, found.cost_checks, found.cost_lost) == (2_000, 0, 7)
    assert apprentice.evidence.examples_of(apprentice.task.id, apprentice.task.definition_hash) == 2


def test_a_run_that_ends_is_no_longer_pending(apprentice):
    run = apprentice.run()
    apprentice.store([run])
    apprentice.follow()
    assert counts(apprentice).pending == 1
    ended = apprentice.answered(1).model_copy(update={"id": run.id})
    assert apprentice.runs.change(run, ended)
    apprentice.follow()
    found = counts(apprentice)
    assert (found.begun, found.remote, found.pending) == (1, 1, 0)
    assert stored(apprentice).sequence == 1


def test_what_additional_models_cost_is_counted_once_whatever_comes_late(apprentice):
    run = apprentice.answered(1)
    apprentice.store([run])
    known = len(apprentice.records())
    for cost in (30, 12, 0):
        for addition in apprentice.runs.paying_additional(run, cost):
            assert apprentice.table.add_together([addition])
    *_, first, second = records = apprentice.records()
    assert len(records) == known + 2

    apprentice.follow([second])
    assert counts(apprentice).cost_additional == 42
    apprentice.follow([first])
    apprentice.follow(at_once=1)
    apprentice.follow()

    found = counts(apprentice)
    assert (found.cost_additional, found.cost_answers, found.remote) == (42, 1_000, 1)
    assert stored(apprentice).sequence == 1


def test_a_check_adds_its_pair_cost_and_example_later(apprentice):
    run = apprentice.answered(
        answers=Model.LOCAL, phase=3, remote=None, check="due", cost_nano_usd=0
    )
    apprentice.store([run])
    apprentice.follow()
    assert stored(apprentice) is None
    checked = run.model_copy(
        update={
            "check": "done",
            "remote": Remote.ANSWERED,
            "cost_nano_usd": 50,
            "pairs": (RunPair(version=1, score=0.5, is_drawn=True),),
        }
    )
    assert apprentice.runs.change(run, checked)
    apprentice.follow()
    apprentice.follow()
    found = counts(apprentice)
    assert (found.local, found.checks_done, found.examples) == (1, 1, 1)
    assert (found.cost_answers, found.cost_checks) == (0, 50)
    assert (found.versions[1].pairs, found.versions[1].agreement) == (1, 500_000)
    assert stored(apprentice).sequence == 1


def test_whoever_counts_a_run_has_a_check_made_that_is_due(apprentice):
    answered = {"answers": Model.LOCAL, "remote": None, "phase": 3, "local_version": 1}
    due, none = (apprentice.answered(check=check, **answered) for check in ("due", "none"))
    apprentice.store([due, none])
    apprentice.follow()
    assert [record["body"] for record in apprentice.platform.queued("runs")] == [due.id]


def test_an_answer_whose_check_had_no_room_is_counted_as_unmonitored_once(apprentice):
    run = apprentice.answered(
        answers=Model.LOCAL, phase=3, remote=None, check="due", cost_nano_usd=0
    )
    known = apprentice.answered(answers=Model.LOCAL, phase=3, remote=None, unmonitored=True)
    apprentice.store([run, known])
    apprentice.follow()
    assert counts(apprentice).unmonitored == 1
    skipped = run.model_copy(update={"check": "skipped", "unmonitored": True})
    assert apprentice.runs.change(run, skipped)
    apprentice.follow()
    apprentice.follow()
    found = counts(apprentice)
    assert (found.local, found.checks_skipped, found.unmonitored) == (2, 1, 2)


def test_a_check_adds_to_what_a_run_showed_before(apprentice):
    run = apprentice.answered(1, check="due")
    apprentice.store([run])
    apprentice.follow()
    checked = run.model_copy(
        update={"check": "done", "pairs": (*run.pairs, RunPair(version=1, score=0, is_drawn=True))}
    )
    assert apprentice.runs.change(run, checked)
    apprentice.follow()
    pairs = apprentice.evidence.pairs(apprentice.task.id, 1)
    assert [pair.score for pair in pairs] == [1, 0]
    assert counts(apprentice).versions[1].pairs == 2


def test_a_run_that_failed_makes_no_pair(apprentice):
    apprentice.store([apprentice.run(state="failed", refusal="remote_unavailable", ended_at=NOON)])
    apprentice.follow()
    assert stored(apprentice) is None


def test_pairs_that_chance_did_not_draw_advance_the_number_alone(apprentice):
    pair = RunPair(version=1, score=0, is_drawn=False)
    apprentice.store([apprentice.answered(1), apprentice.answered(pairs=(pair,))])
    apprentice.follow()
    evidence = stored(apprentice).evidence(rules(apprentice))
    assert (evidence.sequence, evidence.pairs) == (2, 1)
    assert counts(apprentice).versions[1].pairs == 1


def test_two_versions_of_one_run_have_evidence_of_their_own(apprentice):
    apprentice.add_version(2)
    pairs = (
        RunPair(version=1, score=1, is_drawn=True),
        RunPair(version=2, score=0, is_drawn=True),
    )
    apprentice.store(apprentice.answered(pairs=pairs) for _ in range(3))
    apprentice.follow()
    for version, attempt in ((1, 1), (2, 2)):
        evidence = stored(apprentice, version).evidence(rules(apprentice, attempt))
        assert evidence == rebuilt(apprentice, version, attempt)
        assert evidence.sequence == 3
    with pytest.raises(ValueError, match="other rules"):
        stored(apprentice, 2).evidence(rules(apprentice, 1))


def test_more_than_fits_a_transaction_is_folded_in_several(apprentice):
    dice = Random(7)
    apprentice.store(apprentice.answered(dice.choice((0, 0.25, 1))) for _ in range(130))
    apprentice.follow()
    assert stored(apprentice).sequence == 130
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)
    assert counts(apprentice).remote == 130


def test_other_rules_fold_all_pairs_anew(apprentice):
    apprentice.store(apprentice.answered(score) for score in (1, 1, 0, 1) * 10)
    apprentice.follow()
    before = stored(apprentice)
    apprentice.put(
        thresholds={
            "phase1ToPhase2": 50,
            "phase2ToPhase3": 0.7,
            "coachingTrigger": 0.5,
            "emergencyThreshold": 0.3,
        }
    )
    apprentice.follow()
    after = stored(apprentice)
    assert after.sequence == before.sequence
    assert after.state != before.state
    assert after.evidence(rules(apprentice)) == rebuilt(apprentice)
    apprentice.store([apprentice.answered(1)])
    apprentice.follow()
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)


def test_a_pair_after_other_rules_is_folded_by_those_of_its_evidence_until_all_are_folded_anew(
    apprentice,
):
    apprentice.store(apprentice.answered(score) for score in (1, 1, 0, 1) * 10)
    apprentice.follow()
    seen, former = len(apprentice.records()), rules(apprentice)
    apprentice.put(confidence={"alpha": 0.01, "windowSize": 30})
    apprentice.store([apprentice.answered(1)])
    runs = [r for r in apprentice.records()[seen:] if r["dynamodb"]["Keys"]["sk"]["S"] == "run"]
    apprentice.follow(runs)
    assert stored(apprentice).sequence == 41
    pairs = apprentice.evidence.pairs(apprentice.task.id, 1)
    assert stored(apprentice).evidence(former) == folded(pairs, former)
    apprentice.follow()
    assert stored(apprentice).evidence(rules(apprentice)) == rebuilt(apprentice)


def test_the_window_is_of_the_last_pairs(apprentice):
    apprentice.put(confidence={"windowSize": 20, "maxWindowAge": "1d"})
    apprentice.store(apprentice.answered(0) for _ in range(5))
    apprentice.follow()
    assert stored(apprentice).stale_at == 0
    apprentice.store(
        apprentice.answered(1, created_at=NOON + timedelta(seconds=place + 1))
        for place in range(20)
    )
    apprentice.follow()
    found = stored(apprentice)
    last = NOON + timedelta(seconds=20)
    assert found.figures(last.timestamp()).mean == 1
    assert found.stale_at == NOON.timestamp() + 1 + 86_400
    assert not found.figures(found.stale_at).is_stale
    assert found.figures(found.stale_at + 1).is_stale


def test_runs_of_a_deleted_task_leave_nothing(apprentice):
    task = apprentice.task
    apprentice.store([apprentice.answered(1)])
    records = apprentice.records()
    apprentice.platform.call("DELETE", f"/api/v1/apprentice/tasks/{apprentice.name}")
    apprentice.follow(records)
    assert apprentice.evidence.days(task.id, DAY, DAY) == []
    assert apprentice.evidence.all_of(task.id) == []


def test_the_list_of_a_day_has_no_inputs(apprentice):
    runs = [apprentice.answered(1, created_at=NOON + timedelta(seconds=one)) for one in (1, 0)]
    apprentice.store(runs)
    apprentice.follow()
    listed = list(apprentice.table.items(runs_of(apprentice.task.id, DAY)))
    assert [item["id"] for item in listed] == [runs[1].id, runs[0].id]
    assert not any({"input", "local_output", "shadow_output"} & item.keys() for item in listed)
    assert listed[0]["pairs"] == [{"version": 1, "score": 1, "is_drawn": True}]


def test_a_task_is_deleted_with_all_that_is_known_of_it(apprentice):
    task = apprentice.task
    apprentice.store(apprentice.answered(1) for _ in range(30))
    apprentice.follow()
    answer = apprentice.platform.call("DELETE", f"/api/v1/apprentice/tasks/{apprentice.name}")
    assert answer.status == 204
    left = {key for item in items_of_tables()["apprentice"] if (key := item["pk"]["S"])}
    assert not [key for key in left if key.startswith((task.id, "apr_"))]


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


def test_what_is_asked_of_aws_for_a_hundred_runs_is_counted(apprentice):
    apprentice.store(apprentice.answered(1) for _ in range(40))
    apprentice.follow()
    apprentice.store(apprentice.answered(1) for _ in range(25))
    killer = Killer()
    apprentice.follow(apprentice.records()[-25:])
    # The task, its entries, its evidence, and one transaction.
    assert killer.called == ["GetItem", "BatchGetItem", "BatchGetItem", "TransactWriteItems"]


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


def test_what_is_stored_as_nothing_is_folded_as_nothing(apprentice):
    apprentice.store(apprentice.answered(1e-200) for _ in range(3))
    apprentice.follow()
    assert stored(apprentice).figures(NOON.timestamp()).mean == 0


def test_counts_of_all_fields_of_many_versions_fit_an_item_and_an_expression(apprentice):
    names = [f"{place:02d}" + "\u00f6" * 62 for place in range(MAX_MATCH_FIELDS)]
    apprentice.put(
        outputSchema={"type": "object", "properties": {name: {} for name in names}},
        evaluator={"type": "structured_match", "matchFields": names},
    )
    lengths = []

    def note(params, **_):
        updates = [one["Update"] for one in params["TransactItems"] if "Update" in one]
        lengths.extend(len(one["UpdateExpression"]) for one in updates)

    events = clients.dynamodb().meta.events
    events.register("provide-client-params.dynamodb.TransactWriteItems", note)
    missed = tuple(range(MAX_MATCH_FIELDS))
    for number in range(1, 51):
        apprentice.add_version(number)
    apprentice.store(
        apprentice.answered(0).model_copy(
            update={
                "pairs": tuple(
                    RunPair(version=version, score=0, is_drawn=True, missed=missed)
                    for version in (number, number + 1)
                )
            }
        )
        for number in range(1, 51, 2)
    )
    apprentice.follow()
    events.unregister("provide-client-params.dynamodb.TransactWriteItems", note)

    assert {one.missed[MAX_MATCH_FIELDS - 1] for one in counts(apprentice).versions.values()} == {1}
    assert len(counts(apprentice).versions) == 50
    assert max(lengths) <= 4_096


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
