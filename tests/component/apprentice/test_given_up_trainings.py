"""What a training leaves that ends badly, and what does not end one."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from uuid import uuid4

import boto3
import pytest

from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason, Unavailable
from autotune_platform.apprentice.training.items import training_key, trainings_of
from autotune_platform.apprentice.training.job_files import JobFiles
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.sweeping import MOST_REDRIVES
from autotune_platform.runtime import clients
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.table import Table
from tests.component.apprentice.test_trainings import objects
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.training_jobs import job_trainings
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


@pytest.fixture
def of_jobs(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


def stored(trainings, number):
    table = Table("apprentice", clients.dynamodb())
    return table.get(trainings_of(trainings.task_id), training_key(number))


def changed(trainings, number, **fields):
    table = Table("apprentice", clients.dynamodb())
    repository = TrainingRepository(table)
    training = repository.get(trainings.task_id, number)
    after = training.model_copy(update=fields)
    assert table.write_together([repository.changed(training, after)], token=uuid4().hex) is None


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


BEFORE = {"train_linear": "freeze_examples", "validate_student": "train_linear"}


@pytest.mark.parametrize("name", ["freeze_examples", *BEFORE])
def test_each_try_of_a_step_that_takes_minutes_is_noted(trainings, monkeypatch, name):
    """A step was redriven while a function was at it: its first try had five minutes, or twenty."""
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    if name in BEFORE:
        trainings.steps(event, through=BEFORE[name])
    killed_at = (DataFiles, "rows" if name in BEFORE else "put")
    each_try_is_noted(trainings, monkeypatch, name, event, killed_at=killed_at)


def test_each_try_to_look_at_what_a_job_left_is_noted(of_jobs, monkeypatch):
    event = of_jobs.looked_after(of_jobs.begin())
    killed_at = (JobFiles, "looked_at")
    each_try_is_noted(of_jobs, monkeypatch, "verify_artifact", event, killed_at=killed_at)


def each_try_is_noted(trainings, monkeypatch, name, event, *, killed_at):
    """Do a step twice that is killed, and look when it counts as lost each time."""
    repository = TrainingRepository(Table("apprentice", clients.dynamodb()))
    due = []

    def killed(*args):
        due.append(repository.get(trainings.task_id, 1).due_at)
        raise MemoryError

    monkeypatch.setattr(*killed_at, killed)
    for _ in range(2):
        training = repository.get(trainings.task_id, 1)
        now = datetime.now(UTC)
        soon = training.model_copy(update={"due_at": now + timedelta(seconds=1)})
        assert repository.change(training, soon)
        with pytest.raises(MemoryError):
            trainings.step(name, event)
        assert due[-1] >= now + timedelta(minutes=19)
    assert len(due) == 2


def test_what_a_canceled_training_left_is_deleted_wherever_that_was_killed(trainings):
    """Its own execution is lost as well."""
    trainings.ask(160)
    killer = Killer()
    killer.spare()

    def cancel(moment, *, after):
        """Return the number of the training that was canceled."""
        number = trainings.start()["number"]
        trainings.steps(trainings.executions()[0], through="train_linear")
        assert objects()
        killer.called.clear()
        killer.kill(moment, after=after)
        with suppress(Killed):
            trainings.platform.call("POST", f"{TASK}/trainings/{number}/cancel")
        killer.spare()
        assert trainings.read(number)["error"] == "canceled"
        return number

    def swept(number):
        """Return what was begun for it once the sweep has looked."""
        item = stored(trainings, number)
        if item.get("is_left"):
            past = datetime.now(UTC) - timedelta(minutes=1)
            changed(trainings, number, due_at=past)
        for _ in range(2):
            handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))
        assert {"is_left", "open_shard"}.isdisjoint(stored(trainings, number))
        return [one for one in trainings.executions() if one["number"] == number]

    spared = cancel("after-call", after=1_000)
    last = killer.called.index("StartExecution")
    around = killer.called[last - 1 : last + 2]
    assert around == ["TransactWriteItems", "StartExecution", "UpdateItem"]
    killed = [("after-call", last - 1)]
    killed += [(moment, last + late) for moment in ("before-call", "after-call") for late in (0, 1)]
    for number in (spared, *(cancel(moment, after=place) for moment, place in killed)):
        begun = swept(number)
        assert sorted(one["redrive"] for one in begun) == [0, 1]
        assert trainings.step("freeze_examples", max(begun, key=itemgetter("redrive")))["done"]
    assert objects() == []


def test_what_a_training_left_is_deleted_though_giving_it_up_was_killed(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    past = datetime.now(UTC) - timedelta(minutes=1)
    changed(trainings, 1, redrive=MOST_REDRIVES, due_at=past)
    killer = Killer()
    killer.kill("after-call", after=1_000)

    def kill_before_the_next(model, **_):
        killer.kill("before-call", after=0)

    after_end = "after-call.dynamodb.TransactWriteItems"
    clients.dynamodb().meta.events.register(after_end, kill_before_the_next)
    with suppress(Killed):
        handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))
    killer.spare()
    clients.dynamodb().meta.events.unregister(after_end, kill_before_the_next)
    assert trainings.read()["error"] == "platform_error"
    assert len(trainings.executions()) == 1

    changed(trainings, 1, due_at=past)
    handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))

    last = max(trainings.executions(), key=itemgetter("redrive"))
    assert last["redrive"] == MOST_REDRIVES + 1
    assert trainings.step("freeze_examples", last)["done"]
    assert objects() == []


def test_a_training_that_has_ended_and_leaves_nothing_is_due_no_more(trainings):
    """It was looked at every minute for ever, before all that is due behind it."""
    trainings.ask(160)
    trainings.start()
    canceled(trainings)
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    key = (trainings_of(trainings.task_id), training_key(1))
    table = Table("apprentice", clients.dynamodb())
    table.update(*key, {"open_shard": "trainings", "due_at": past})

    assert [swept(), swept()] == [1, 0]

    assert "open_shard" not in stored(trainings, 1)
    assert trainings.read()["error"] == "canceled"


def given_up(trainings):
    past = datetime.now(UTC) - timedelta(minutes=1)
    changed(trainings, 1, redrive=MOST_REDRIVES, due_at=past)
    swept()


def canceled(trainings):
    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200


def swept():
    return handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))["overdue"]


@pytest.mark.parametrize("end", [given_up, canceled], ids=lambda one: one.__name__)
def test_what_a_training_left_is_looked_at_until_an_execution_begins(trainings, monkeypatch, end):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="freeze_examples")
    with monkeypatch.context() as patched:
        patched.setattr(Executions, "try_start", lambda *_: False)
        end(trainings)
        changed(trainings, 1, due_at=datetime.now(UTC) - timedelta(minutes=1))
        assert swept() == 1
    assert [key.split("/")[2] for key in objects()] == ["data", "data"]

    assert swept() == 1

    last = max(trainings.executions(), key=itemgetter("redrive"))
    assert last["redrive"] > event["redrive"]
    assert trainings.step("freeze_examples", last)["done"]
    assert objects() == []
    assert swept() == 0


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
