"""A training starts by itself once there are examples enough: once, and one at a time."""

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.items import COUNTED, counts_key
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime.clock import Clock
from tests.support.apprentice_folding import Apprentice
from tests.support.executions import inputs_of
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, handler

PHASE_1 = {"phase": 1, "local": None, "is_drawn": False, "sampling_rate": None}
PLAIN = {"cause": "examples", "running": None, "waits": None}
TASK = "/api/v1/apprentice/tasks/intents"


class Growing(Apprentice):
    """A task that is trained, and whose examples come."""

    def learn(self, number, *scores, **fields):
        now = Clock().now()
        known = {} if scores else PHASE_1
        runs = [
            self.answered(*scores, **{**known, "created_at": now, **fields}) for _ in range(number)
        ]
        self.store(runs)
        self.follow()

    def sweep(self):
        done = handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))
        return done["began"]

    def end(self, state, **fields):
        """End the training under way."""
        trainings = TrainingRepository(self.table)
        training = trainings.get(self.task.id, trainings.last(self.task.id).number)
        ended = {"state": state, "ended_at": Clock().now(), **fields}
        assert trainings.change(training, training.model_copy(update=ended))

    def trainings(self):
        return self.platform.call("GET", f"{TASK}/trainings").json["trainings"]

    @property
    def next_training(self):
        return self.platform.call("GET", f"{TASK}/status").json["status"]["nextTraining"]

    def is_looked_at(self):
        return "open_shard" in self.table.get(self.task.id, counts_key(self.task.definition_hash))


@pytest.fixture
def task(platform, ledger):
    return Growing(platform, ledger.connect())


def test_it_starts_once_with_its_first_batch(task):
    task.learn(49)
    assert task.sweep() == 0
    assert task.next_training == {
        "examplesNeeded": 50,
        "cause": "examples",
        "running": None,
        "waits": None,
    }
    assert not task.is_looked_at()
    task.learn(1)
    assert task.sweep() == 1
    assert task.sweep() == 0

    (training,) = task.trainings()
    assert (training["state"], training["cause"], training["examples"]) == (
        "running",
        "examples",
        50,
    )
    assert training["createdBy"] == "autotune"
    (begun,) = inputs_of("train_student").values()
    assert begun["training_id"] == training["id"]
    assert task.next_training["running"] == 1


def test_examples_that_come_meanwhile_are_looked_at_once_it_has_ended(task):
    task.learn(50)
    task.sweep()
    task.learn(50)
    assert task.sweep() == 0
    task.end("discarded")
    assert task.next_training["examplesNeeded"] == 100
    task.learn(1)
    assert task.sweep() == 1
    assert [one["examples"] for one in task.trainings()] == [101, 50]


@pytest.mark.parametrize(("state", "needed"), [("failed", 100), ("discarded", 100)])
def test_one_that_made_no_version_is_tried_again_with_the_next_batch_and_not_before(
    task, state, needed
):
    task.learn(50)
    task.sweep()
    task.end(state)
    task.learn(49)
    assert task.sweep() == 0
    assert task.next_training["examplesNeeded"] == needed
    task.learn(1)
    assert task.sweep() == 1


def test_after_one_that_made_a_version_it_takes_half_as_many_again(task):
    task.learn(120)
    task.sweep()
    task.end("hosted")
    task.learn(59)
    assert task.sweep() == 0
    assert task.next_training["examplesNeeded"] == 180
    task.learn(1)
    assert task.sweep() == 1


def test_after_an_emergency_the_next_batch_is_enough(task):
    task.put(confidence={"falseAlarmPairs": 100})
    task.learn(160)
    task.sweep()
    task.end("hosted")
    task.add_version(1)
    task.learn(60, 0.0)
    assert task.next_training["cause"] == "emergency"
    assert task.sweep() == 1
    assert task.trainings()[0]["cause"] == "emergency"
    task.end("hosted")
    assert task.next_training == {
        "examplesNeeded": 330,
        "cause": "examples",
        "running": None,
        "waits": None,
    }


def test_one_that_somebody_began_counts_too(task):
    task.learn(49)
    answer = task.platform.call("POST", f"{TASK}/trainings")
    assert (answer.status, answer.json["training"]["examples"]) == (202, 49)
    assert answer.json["training"]["cause"] == "request"
    task.end("discarded")
    task.learn(1)
    assert task.sweep() == 0
    assert task.next_training["examplesNeeded"] == 99


def test_imported_examples_count_too(task):
    lines = "\n".join(
        f'{{"input": {{"text": "wish {n}"}}, "output": {{"intent": "a"}}}}' for n in range(60)
    )
    answer = task.platform.call("POST", f"{TASK}/examples", raw=lines.encode())
    assert answer.status == 201, answer.text
    assert task.sweep() == 1


def test_a_task_that_trains_nothing_is_looked_at_no_more(task):
    task.put(training=None, local={"backend": "vllm", "url": "http://127.0.0.1:9"})
    task.learn(60)
    assert task.sweep() == 0
    assert not task.is_looked_at()
    assert task.next_training is None


def test_a_deleted_task_begins_nothing(task):
    task.learn(60)
    assert task.platform.call("DELETE", TASK).status == 204
    assert task.sweep() == 0
    assert inputs_of("train_student") == {}


def test_whoever_is_killed_leaves_it_to_the_next_and_one_training_begins(task):
    task.learn(60)
    killer = Killer()
    for calls in range(40):
        killer.kill("before-call", after=calls)
        try:
            task.sweep()
        except Killed:
            continue
        finally:
            killer.spare()
        break
    else:
        pytest.fail("it was always killed")
    assert len(task.trainings()) == 1
    assert calls > 5
    assert task.sweep() == 0


LARGE = {"backend": "linear", "fineTuneBatchSize": 500}
SMALL = {**LARGE, "fineTuneBatchSize": 50}


@pytest.mark.parametrize(
    "before",
    [
        {"training": LARGE},
        {"training": None, "local": {"backend": "vllm", "url": "http://[::1]:9"}},
    ],
)
def test_a_configuration_that_makes_one_due_begins_it(task, before):
    task.put(**before)
    task.learn(60)
    assert task.sweep() == 0
    assert not task.is_looked_at()
    task.put(training=SMALL)
    assert task.sweep() == 1
    assert task.trainings()[0]["examples"] == 60


def test_a_configuration_that_is_put_while_another_is_looked_at_is_looked_at_too(task, monkeypatch):
    task.put(training=LARGE)
    task.learn(60)
    find = TaskRepository.configuration

    def find_late(repository, task_id, version):
        found = find(repository, task_id, version)
        monkeypatch.setattr(TaskRepository, "configuration", find)
        task.put(training=SMALL)
        return found

    monkeypatch.setattr(TaskRepository, "configuration", find_late)
    assert [task.sweep(), task.sweep()] == [0, 1]


def test_another_definition_without_examples_begins_nothing_and_leaves_nothing(task):
    task.learn(60)
    task.put(systemPrompt="Name the intent, in JSON.")
    assert task.is_looked_at()
    assert task.sweep() == 0
    assert not task.is_looked_at()
    task_id = task.task.id
    assert len(list(task.table.items(task_id, starting=COUNTED))) == 2
    assert task.platform.call("DELETE", TASK).status == 204
    assert list(task.table.items(task_id, starting=COUNTED)) == []
