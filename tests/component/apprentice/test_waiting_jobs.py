"""Jobs that wait for an instance, as those on spot do: the next type is tried, and none is paid."""

import time
from datetime import timedelta

import pytest

from autotune_platform.apprentice.training import elsewhere
from autotune_platform.runtime.training_jobs import SageMakerJobs
from local.sagemaker.faults import Kind
from tests.support.killing import Killed
from tests.support.local_sagemaker import entered, until
from tests.support.training_jobs import RESUMES, SLEEPS, TASK, TYPES, job_trainings

CREATION = "CreateTrainingJob"


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def half_an_hour_later(monkeypatch):
    """Look at a training when what waits has waited for half an hour."""

    def look(trainings, event):
        with monkeypatch.context() as patched:
            patched.setattr(elsewhere, "WAIT_FOR_INSTANCE", timedelta())
            return trainings.look(event)

    return look


def stopped(trainings, job):
    """Wait until a job is stopped, which nothing is billed of."""
    ended = trainings.ended(job)
    assert (ended["TrainingJobStatus"], entered(ended)) == (
        "Stopped",
        ["Starting", "Stopping", "Stopped"],
    )
    assert ended.get("BillableTimeInSeconds", 0) == 0


def test_a_job_without_an_instance_for_half_an_hour_makes_room_for_the_next_type(
    trainings, half_an_hour_later
):
    trainings.lab.plant(Kind.STUCK, operation=CREATION)
    under = trainings.begin()
    event = trainings.look(trainings.look(under._asdict()))
    [job] = trainings.jobs()
    described = trainings.lab.described(job)
    assert (described["TrainingJobStatus"], event["job"]) == ("InProgress", job)

    event = half_an_hour_later(trainings, event)
    assert (event["waits"], event["job"]) == (True, job)
    stopped(trainings, job)
    event = trainings.look(event)
    assert (event["waits"], event["job"]) == (True, None)
    assert trainings.money() == {"committed": 0, "spent": 0}
    trainings.looked_after(under)
    found = trainings.read()
    assert (found["step"], found["job"]["instanceType"]) == ("verify", TYPES[1])
    assert trainings.money() == dict.fromkeys(("committed", "spent"), found["spentNanoUsd"])


def test_a_day_without_an_instance_counts_from_when_the_first_job_was_planned(
    trainings, half_an_hour_later, monkeypatch
):
    trainings.lab.plant(Kind.STUCK, operation=CREATION)
    event = half_an_hour_later(trainings, trainings.look(trainings.begin()._asdict()))
    stopped(trainings, event["job"])
    monkeypatch.setattr(elsewhere, "GIVE_UP_AFTER", timedelta(microseconds=1))
    assert trainings.look(event)["done"]
    found = trainings.read()
    assert found["error"] == "no_capacity"
    assert found["reason"] == f"{TYPES[0]}: no instance within 30 minutes"
    assert trainings.money() == {"committed": 0, "spent": 0}


def test_whoever_is_killed_before_it_stops_a_waiting_job_leaves_that_to_the_next(
    trainings, half_an_hour_later, monkeypatch
):
    trainings.lab.plant(Kind.STUCK, operation=CREATION)
    event = trainings.look(trainings.begin()._asdict())
    with monkeypatch.context() as patched:
        patched.setattr(SageMakerJobs, "stop", killed)
        with pytest.raises(Killed):
            half_an_hour_later(trainings, event)
    assert trainings.lab.described(event["job"])["TrainingJobStatus"] == "InProgress"
    event = trainings.look(event)
    stopped(trainings, event["job"])
    trainings.look(event)
    found = trainings.read()
    assert (found["state"], found["error"], found["job"]) == ("running", None, None)


def killed(_, __):
    raise Killed


def test_a_job_that_has_an_instance_before_it_was_stopped_runs_on(
    trainings, half_an_hour_later, monkeypatch
):
    """Whoever was to stop it was killed, and it is what was waited for."""
    describe = SageMakerJobs.find

    def waiting(jobs, name):
        found = describe(jobs, name)
        waits = {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Starting"}
        return found and {
            **{key: value for key, value in found.items() if key != "TrainingStartTime"},
            **waits,
        }

    trainings.runs_program(SLEEPS)
    event = trainings.look(trainings.begin()._asdict())
    trainings.lab.reached(event["job"], "Training")
    with monkeypatch.context() as patched:
        patched.setattr(SageMakerJobs, "find", waiting)
        patched.setattr(SageMakerJobs, "stop", killed)
        with pytest.raises(Killed):
            half_an_hour_later(trainings, event)

    assert trainings.look(event)["job"] == event["job"]
    assert trainings.lab.described(event["job"])["TrainingJobStatus"] == "InProgress"

    # Who stops it from then on is somebody else.
    trainings.lab.sagemaker.stop_training_job(TrainingJobName=event["job"])
    trainings.ended(event["job"])
    assert trainings.look(event)["done"]
    assert trainings.read()["error"] == "job_stopped"


def test_a_job_that_lost_its_instance_ends_no_training_for_what_lacked_before_it(
    trainings, half_an_hour_later, monkeypatch
):
    """The next type goes on from its checkpoints, which are paid for."""
    trainings.put(budgets={"daily": "10", "trainingMonthly": "6"})
    trainings.lab.plant(Kind.STUCK, operation=CREATION)
    under = trainings.begin()
    event = half_an_hour_later(trainings, trainings.look(under._asdict()))
    stopped(trainings, event["job"])
    trainings.runs_program(RESUMES)
    event = trainings.look(trainings.look(event))
    trainings.lab.reached(event["job"], "Training")
    trainings.lab.sagemaker.stop_training_job(TrainingJobName=event["job"])
    trainings.ended(event["job"])
    describe = SageMakerJobs.find

    def waited_in_vain(jobs, name):
        found = describe(jobs, name)
        is_it = found and name == event["job"]
        return {**found, "SecondaryStatus": "MaxWaitTimeExceeded"} if is_it else found

    monkeypatch.setattr(SageMakerJobs, "find", waited_in_vain)
    monkeypatch.setattr(elsewhere, "GIVE_UP_AFTER", timedelta(milliseconds=500))
    time.sleep(0.6)  # that the first type lacks since then
    assert trainings.look(event)["waits"]
    found = trainings.read()
    assert (found["state"], found["error"]) == ("running", None)
    assert found["spentNanoUsd"] > 0


def test_a_job_that_lost_its_instance_is_left_to_wait_for_another(trainings, half_an_hour_later):
    """SageMaker goes on with it from its checkpoints, for as long as the job was asked for."""
    trainings.runs_program(RESUMES)
    event = trainings.look(trainings.begin()._asdict())
    trainings.lab.reached(event["job"], "Training")
    trainings.lab.plant(Kind.STUCK, operation=CREATION)
    trainings.lab.plant(Kind.INTERRUPTION, operation=CREATION)

    def waits():
        described = trainings.lab.described(event["job"])
        return entered(described)[-2:] == ["Interrupted", "Starting"] and described

    assert until(waits)["TrainingStartTime"]
    assert half_an_hour_later(trainings, event) == {**event, "seconds": 30}
    assert trainings.lab.described(event["job"])["TrainingJobStatus"] == "InProgress"

    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200
    trainings.ended(event["job"])
    assert trainings.look(event)["done"]
    spent = trainings.read()["spentNanoUsd"]
    assert trainings.money() == {"committed": spent, "spent": spent}
    assert spent > 0
