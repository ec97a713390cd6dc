"""Models that are trained and have no host, and what a test does with them."""

from datetime import timedelta
from uuid import uuid4

from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.training.repository import TrainingRepository
from local.sagemaker.faults import Kind
from tests.support.apprentice_folding import Apprentice
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.students import made_up
from tests.support.training_jobs import TASK

CREATE = "CreateEndpoint"


def trained(trainings):
    """Return the event of a training whose model is to be hosted."""
    after = trainings.looked_after(trainings.begin())
    after = trainings.step("verify_artifact", after)
    assert trainings.read()["step"] == "deploy"
    return after


def archive(trainings):
    """Return where models of it are."""
    return [key for key in trainings.objects() if "/models/" in key]


def sweep(trainings):
    """Have the sweep of trainings look once."""
    handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))


def host(trainings, number=1):
    """Ask to host the model that a training made."""
    return trainings.platform.call("POST", f"{TASK}/trainings/{number}/host")


def answered(trainings, *, seed):
    """Have inputs answered, and their examples stored."""
    for value, _ in made_up(120, seed=seed):
        assert trainings.runs.start(value, wait=20).status == 200
    Apprentice.follow(None, Apprentice.records())


def steps_to_its_host(trainings, event):
    """Do the steps of an execution until its model is hosted, or is not."""
    event = trainings.step("freeze_examples", event)
    while (event := trainings.look(event))["waits"]:
        trainings.ended(event["job"])
    return trainings.deployed(trainings.step("verify_artifact", event))


def unhosted(trainings, monkeypatch):
    """Have training 1 end without a host; return where its model is."""
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    with monkeypatch.context() as patched:
        patched.setattr(lacking, "GIVE_UP_AFTER", timedelta())
        assert trainings.deployed(trained(trainings))["done"]
    (kept,) = archive(trainings)
    return kept


def last_event():
    """Return what the latest execution was begun with."""
    begun = inputs_of("train_student").values()
    return max(begun, key=lambda one: (one["number"], one["redrive"]))


def changed(trainings, number=2, **fields):
    """Store a training as it is not yet."""
    repository = TrainingRepository(trainings.table)
    training = repository.get(trainings.task_id, number)
    stored = repository.changed(training, training.model_copy(update=fields))
    assert trainings.table.write_together([stored], token=uuid4().hex) is None
