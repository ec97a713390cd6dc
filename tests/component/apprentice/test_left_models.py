"""A model that nobody knows of goes with its training, wherever the step was killed."""

from contextlib import suppress

import boto3
import pytest

from autotune_platform.apprentice.students.files import ModelFiles, artifact_key, model_name
from autotune_platform.apprentice.training import learning
from autotune_platform.apprentice.training.job_files import JobFiles
from tests.component.apprentice.test_trainings import objects
from tests.support.killing import Killed
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


def deleted(trainings):
    assert trainings.platform.call("DELETE", TASK).status == 204


def canceled(trainings):
    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200


def nothing(trainings):
    pass


by_its_owner = pytest.mark.parametrize("end", [deleted, canceled], ids=lambda one: one.__name__)


def killed_once_stored(monkeypatch, trainings, step, event, *, end):
    """Do a step that is killed once its model is on its way, and end its training."""
    with monkeypatch.context() as patched:
        for files, name in ((ModelFiles, "put"), (JobFiles, "keep")):
            patched.setattr(files, name, _killed_after(getattr(files, name)))
        with suppress(Killed):
            trainings.step(step, event)
    s3 = boto3.client("s3")
    (key,) = models()
    content = s3.get_object(Bucket="apprentice", Key=key)["Body"].read()
    end(trainings)
    # It arrives after whatever was deleted.
    s3.put_object(Bucket="apprentice", Key=key, Body=content)


def _killed_after(store):
    def late(*args, **kwargs):
        store(*args, **kwargs)
        raise Killed

    return late


def models():
    return [key for key in objects() if "/models/" in key]


@by_its_owner
@pytest.mark.parametrize("then", ["train_linear", "fail_training"])
def test_a_model_of_a_training_that_ended_meanwhile_goes(trainings, monkeypatch, end, then):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="freeze_examples")
    killed_once_stored(monkeypatch, trainings, "train_linear", event, end=end)

    trainings.step(then, event)  # as the state machine tries again, or gives up

    assert objects() == []


@by_its_owner
def test_a_copy_of_what_a_job_left_goes_too(of_jobs, monkeypatch, end):
    event = of_jobs.looked_after(of_jobs.begin())
    killed_once_stored(monkeypatch, of_jobs, "verify_artifact", event, end=end)

    of_jobs.step("verify_artifact", event)

    assert of_jobs.objects() == []


@pytest.mark.parametrize("through", ["train_linear", "host_student"])
def test_of_a_step_that_made_other_bytes_before_only_what_is_known_stays(
    trainings, monkeypatch, through
):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="freeze_examples")
    with monkeypatch.context() as patched:
        patched.setattr(learning, "to_bytes", lambda _: b"other bytes")
        killed_once_stored(monkeypatch, trainings, "train_linear", event, end=nothing)
    # Of a training whose number begins with the same digit.
    eleventh = artifact_key(trainings.task_id, model_name(trainings.task_id, 11, "0" * 64))
    boto3.client("s3").put_object(Bucket="apprentice", Key=eleventh, Body=b"a model")

    trainings.steps(event, through=through)
    trainings.step("fail_training", event)

    found = trainings.read()
    known = artifact_key(trainings.task_id, found["model"]["name"])
    assert (found["version"], objects()) in [(1, sorted([known, eleventh])), (None, [eleventh])]
    assert (found["version"] is None) == (through == "train_linear")
