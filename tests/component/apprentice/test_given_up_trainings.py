"""What a training leaves that ends badly, and what does not end one."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason, Unavailable
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.sweeping import MOST_REDRIVES
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.component.apprentice.test_trainings import objects
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


def test_a_training_that_is_given_up_leaves_no_data(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    assert [key.rpartition("/")[0].split("/")[2] for key in objects()] == ["data", "data", "models"]
    repository = TrainingRepository(Table("apprentice", clients.dynamodb()))
    training = repository.get(trainings.task_id, 1)
    lost = {"redrive": MOST_REDRIVES, "due_at": datetime.now(UTC) - timedelta(minutes=1)}
    assert repository.change(training, training.model_copy(update=lost))

    handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))

    assert trainings.read()["error"] == "platform_error"
    last = max(trainings.executions(), key=lambda one: one["redrive"])
    assert last["redrive"] == MOST_REDRIVES + 1
    assert trainings.step("freeze_examples", last)["done"]
    assert objects() == []


@pytest.mark.parametrize("name", ["freeze_examples", "train_linear"])
def test_each_try_of_a_step_that_takes_minutes_is_noted(trainings, monkeypatch, name):
    """A step was redriven while a function was at it: its first try had five minutes, or twenty."""
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    if name == "train_linear":
        trainings.step("freeze_examples", event)
    repository = TrainingRepository(Table("apprentice", clients.dynamodb()))
    due = []

    def killed(*args):
        due.append(repository.get(trainings.task_id, 1).due_at)
        raise MemoryError

    monkeypatch.setattr(DataFiles, "put", killed)
    monkeypatch.setattr(DataFiles, "rows", killed)
    for _ in range(2):
        training = repository.get(trainings.task_id, 1)
        now = datetime.now(UTC)
        soon = training.model_copy(update={"due_at": now + timedelta(seconds=1)})
        assert repository.change(training, soon)
        with pytest.raises(MemoryError):
            trainings.step(name, event)
        assert due[-1] >= now + timedelta(minutes=19)
    assert len(due) == 2


def test_a_model_whose_first_answer_cannot_be_read_is_a_version(trainings, monkeypatch):
    """How often it can be was judged before, by all of the hold-out."""
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="validate_student")

    class Client:
        def ask(self, question, *, timeout_ms):
            return LocalAnswer("no JSON", "small", None, 5)

    monkeypatch.setattr(BackendClients, "client_for", lambda self, document, served: Client())
    assert trainings.step("host_student", event)["done"]

    assert trainings.read()["state"] == "hosted"


def test_a_first_row_that_is_too_long_for_the_model_keeps_it_from_nothing(trainings, monkeypatch):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="validate_student")
    answers = iter([Unavailable(Reason.FAILED, "500"), LocalAnswer("{}", "small", None, 5)])

    class Client:
        def ask(self, question, *, timeout_ms):
            return next(answers)

    monkeypatch.setattr(BackendClients, "client_for", lambda self, document, served: Client())
    assert trainings.step("host_student", event)["done"]

    assert trainings.read()["state"] == "hosted"


def test_a_version_that_serves_and_is_lost_keeps_no_model_from_taking_its_place(trainings):
    trainings.ask(160)
    model = trainings.train()["model"]["name"]
    forget_processes()  # which know versions for some seconds
    trainings.ask(60, seed=2)
    promoted = trainings.platform.call("POST", f"{TASK}/versions/1/promote")
    assert promoted.status == 200, promoted.text
    key = f"apprentice/{trainings.task_id}/models/{model}/model.npz"
    boto3.client("s3").delete_object(Bucket="apprentice", Key=key)

    found = trainings.train()

    assert (found["state"], found["version"]) == ("hosted", 2)
    assert found["test"]["comparison"] is None
