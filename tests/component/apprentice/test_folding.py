"""Ended runs become counts, pairs and evidence, each once."""

from datetime import timedelta
from random import Random

import pytest

from autotune.protocol.limits import MAX_MATCH_FIELDS
from autotune_platform.apprentice.evidence import folded
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.items import runs_of
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.versions.changes import changes_of
from autotune_platform.runtime import clients
from autotune_platform.webhooks.outbox import EVENT_PREFIX
from tests.support.apprentice_folding import DAY, NOON
from tests.support.folded import counts, rebuilt, rules, stored
from tests.support.killing import Killer
from tests.support.tables import items_of_tables


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
    apprentice.store(apprentice.answered(1) for _ in range(120))
    apprentice.follow()
    assert list(apprentice.table.items(task.id, starting=changes_of(1))), "it is in its canary"
    answer = apprentice.platform.call("DELETE", f"/api/v1/apprentice/tasks/{apprentice.name}")
    assert answer.status == 204
    left = {(item["pk"]["S"], item["sk"]["S"]) for item in items_of_tables()["apprentice"]}
    of_task = [sk for pk, sk in left if pk.startswith((task.id, "apr_"))]
    assert all(sk.startswith(EVENT_PREFIX) for sk in of_task), "what is to be published goes later"


def test_what_is_asked_of_aws_for_a_hundred_runs_is_counted(apprentice):
    apprentice.store(apprentice.answered(1) for _ in range(40))
    apprentice.follow()
    apprentice.store(apprentice.answered(1) for _ in range(25))
    killer = Killer()
    apprentice.follow(apprentice.records()[-25:])
    # The task, its entries, its evidence, and one transaction.
    assert killer.called == ["GetItem", "BatchGetItem", "BatchGetItem", "TransactWriteItems"]


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
