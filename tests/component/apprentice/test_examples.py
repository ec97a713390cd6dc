"""What the paid model answered becomes an example, once, with why it was asked."""

from contextlib import suppress
from datetime import timedelta

import pytest

from autotune_platform.apprentice.examples.items import SHARDS, examples_of
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.examples.texts import ExampleContents
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.storage.table import Table
from tests.support.apprentice_folding import NOON
from tests.support.kept import kept
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes

PHASE_1 = {"phase": 1, "local": None, "is_drawn": False, "sampling_rate": None}
PHASE_3 = {"phase": 3, "answers": Model.LOCAL}


def stored(apprentice):
    task = apprentice.task
    repository = ExampleRepository(apprentice.table)
    return list(repository.all_of(task.id, task.definition_hash))


def counts(apprentice):
    task = apprentice.task
    return ExampleRepository(apprentice.table).counts(task.id, task.definition_hash)


@pytest.mark.parametrize(
    ("fields", "selection", "propensity"),
    [
        (PHASE_1, "phase1", 1),
        ({"phase": 2}, "random", 1),
        ({**PHASE_3, "sampling_rate": 0.04, "check": "done"}, "random", 0.04),
        ({"phase": 3, "is_drawn": False, "sampling_rate": 0.04}, "escalated", None),
        (
            {"phase": 3, "is_drawn": False, "escalated": True, "local": Local.UNSURE},
            "escalated",
            None,
        ),
        # While a version is in shadow, all inputs are put to the paid model.
        ({**PHASE_3, "is_drawn": False, "sampling_rate": 0.04, "shadow_version": 2}, "random", 1),
    ],
)
def test_an_example_says_why_the_paid_model_was_asked(apprentice, fields, selection, propensity):
    run = apprentice.answered(**fields)
    apprentice.store([run])
    apprentice.follow()
    [example] = stored(apprentice)
    assert (example.selection, example.propensity) == (selection, propensity)
    assert (example.run_id, example.row_id) == (run.id, run.remote_row_id)
    assert example.at == run.ended_at
    assert counts(apprentice).by_selection == {
        **dict.fromkeys(("phase1", "random", "escalated", "imported"), 0),
        selection: 1,
    }


def test_what_the_paid_model_did_not_answer_is_no_example(apprentice):
    nobody = {"remote": None, "remote_row_id": None, "is_drawn": False}
    apprentice.store(
        [
            apprentice.run(),
            apprentice.answered(**PHASE_3, **nobody),
            apprentice.run(state="failed", remote=Remote.FAILED, ended_at=NOON),
        ]
    )
    apprentice.follow()
    assert stored(apprentice) == []


def test_records_that_come_again_make_no_example_twice(apprentice):
    apprentice.store(apprentice.answered(1) for _ in range(30))
    apprentice.follow()
    apprentice.follow(apprentice.records()[::-1], at_once=7)
    assert len(stored(apprentice)) == counts(apprentice).all == 30
    task = apprentice.task
    assert apprentice.evidence.examples_of(task.id, task.definition_hash) == 30
    used = [
        examples_of(task.id, task.definition_hash, shard)
        for shard in range(SHARDS)
        if apprentice.table.query(examples_of(task.id, task.definition_hash, shard)).items
    ]
    assert len(used) > SHARDS // 2


def test_a_check_makes_an_example_when_it_ends(apprentice):
    due = apprentice.answered(**PHASE_3, remote=None, remote_row_id=None, check="due")
    apprentice.store([due])
    apprentice.follow()
    assert stored(apprentice) == []
    row_id = f"llm_{1:026}"
    changes = {"check": "done", "remote": Remote.ANSWERED, "remote_row_id": row_id}
    assert apprentice.runs.change(due, due.model_copy(update=changes))
    apprentice.follow()
    assert [one.row_id for one in stored(apprentice)] == [row_id]


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_whoever_is_killed_counts_and_stores_all_or_nothing(apprentice, moment):
    killer = Killer()
    for number, after in enumerate(range(10), 1):
        apprentice.store([apprentice.answered(1)])
        killer.kill(moment, after=after)
        with suppress(Killed):
            apprentice.follow()
        killer.spare()
        forget_processes()
        assert len(stored(apprentice)) == counts(apprentice).all
        apprentice.follow()
        assert len(stored(apprentice)) == counts(apprentice).all == number


def test_examples_go_with_their_task(apprentice):
    apprentice.store(apprentice.answered(1) for _ in range(20))
    apprentice.follow()
    assert len(stored(apprentice)) == 20
    answer = apprentice.platform.call("DELETE", f"/api/v1/apprentice/tasks/{apprentice.name}")
    assert answer.status == 204
    left = [one for one in kept() if one.place == "table apprentice" and "apt_" in one.key]
    assert left == []
    apprentice.follow()
    assert [one for one in kept() if one.place == "table apprentice" and "apt_" in one.key] == []


def test_a_run_of_a_definition_before_is_an_example_of_that(apprentice):
    run = apprentice.answered(created_at=NOON - timedelta(days=1))
    before = apprentice.task.definition_hash
    apprentice.put(systemPrompt="You tell intents apart, in French.")
    apprentice.store([run])
    apprentice.follow()
    assert stored(apprentice) == []
    repository = ExampleRepository(Table("apprentice", apprentice.table._client))
    assert [one.run_id for one in repository.all_of(run.task_id, before)] == [run.id]
    assert repository.definitions(run.task_id) == [before]


def test_an_answer_within_a_fence_is_an_example_as_the_object_that_it_is(apprentice):
    apprentice.store([apprentice.answered(**PHASE_1)])
    apprentice.follow()
    [example] = stored(apprentice)

    class Rows:
        def texts_of(self, row_ids):
            return dict.fromkeys(row_ids, '```json\n{"intent":"book"}\n```')

    contents = ExampleContents(
        examples=ExampleRepository(apprentice.table),
        runs=RunRepository(apprentice.table),
        answers=Rows(),
    )
    assert contents.of([example])[example.id].output == {"intent": "book"}
