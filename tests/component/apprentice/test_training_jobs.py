"""Jobs that train: whatever becomes of one, its training has a clear end, and is paid for."""

import hashlib
import json
import os

import boto3
import pytest

from autotune_platform.apprentice.instance_prices import reserved_for
from autotune_platform.apprentice.training import on_sagemaker
from local.sagemaker.faults import Kind
from tests.support.apprentice_folding import Apprentice
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.local_sagemaker import BUCKET as LAB_BUCKET
from tests.support.local_sagemaker import entered
from tests.support.students import made_up
from tests.support.training_jobs import (
    BASE,
    BASE_LIST,
    BUCKET,
    FAILS,
    RESUMES,
    SAYS_WHY,
    SLEEPS,
    STACK,
    TASK,
    TRAINING,
    TYPES,
    job_trainings,
)
from tests.support.trainings import VERBS, taught

PRICES = {"ml.g5.xlarge": 1_408_000_000, "ml.g5.2xlarge": 1_515_000_000}


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


def seconds_paid(described):
    return described.get("BillableTimeInSeconds", 0)


def test_a_job_trains_a_model_that_is_taken_over_once_it_was_looked_at(trainings):
    under = trainings.begin()
    first = trainings.look(under._asdict())
    (job,) = trainings.jobs()
    assert (first["waits"], first["job"]) == (True, job)
    assert trainings.look(first)["job"] == job  # a doubled look creates nothing
    reserved = reserved_for(3_600, PRICES[TYPES[0]])
    assert trainings.money() == {"committed": reserved, "spent": 0}
    shown = trainings.read()
    assert (shown["reservedNanoUsd"], shown["spentNanoUsd"]) == (reserved, 0)
    assert (shown["job"]["instanceType"], shown["job"]["billableSeconds"]) == (TYPES[0], None)
    status = trainings.shown("status")
    assert status["trainingSpend"]["reservedNanoUsd"] == reserved
    assert status["alerts"] == []

    described = trainings.ended(job)
    assert described["EnableNetworkIsolation"]
    assert described["EnableManagedSpotTraining"]
    assert described["CheckpointConfig"]["S3Uri"]
    assert described["OutputDataConfig"]["KmsKeyId"] == os.environ["TRAINING_KEY_ARN"]
    assert "VolumeKmsKeyId" not in described["ResourceConfig"]  # types of g5 refuse one
    asked = str(described["InputDataConfig"])
    assert "/train-" in asked
    assert "holdout" not in asked
    after = trainings.look(first)
    assert (after["done"], after["waits"]) == (False, False)
    paid = -(-seconds_paid(described) * PRICES[TYPES[0]] // 3_600)
    assert paid > 0
    assert trainings.money() == {"committed": paid, "spent": paid}
    assert not trainings.look(after)["waits"]
    assert trainings.money() == {"committed": paid, "spent": paid}  # and pays nothing twice
    shown = trainings.read()
    assert (shown["reservedNanoUsd"], shown["spentNanoUsd"]) == (0, paid)
    assert shown["billableSeconds"] == seconds_paid(described)
    assert shown["job"]["spentNanoUsd"] == paid
    report = trainings.shown("report")
    spend = report["status"]["trainingSpend"]
    assert (spend["spentNanoUsd"], spend["reservedNanoUsd"]) == (paid, 0)
    assert spend["limitNanoUsd"] == 5 * 10**9
    assert report["totals"]["costTrainingNanoUsd"] == paid
    assert report["savings"]["trainingNanoUsd"] == paid
    assert report["savings"]["netNanoUsd"] == -paid

    assert not trainings.step("verify_artifact", after)["done"]
    found = trainings.read()
    assert (found["state"], found["step"]) == ("running", "deploy")
    assert found["spentNanoUsd"] == paid
    model = found["model"]
    assert model["seconds"] == described["TrainingTimeInSeconds"]
    key = f"apprentice/{trainings.task_id}/models/{model['name']}/model.tar.gz"
    assert key in trainings.objects()
    # Whoever is late finds it done.
    assert not trainings.step("verify_artifact", after)["done"]
    trainings.step("fail_training", after)
    assert trainings.objects() == [key]  # what was paid for is kept


def test_a_job_that_is_interrupted_goes_on_from_its_checkpoints(trainings):
    trainings.runs_program(RESUMES)
    trainings.lab.plant(Kind.INTERRUPTION, operation="CreateTrainingJob", seconds=1.0)
    after = trainings.looked_after(trainings.begin())
    (job,) = trainings.jobs()
    assert "Interrupted" in entered(trainings.lab.described(job))
    assert (after["done"], after["waits"]) == (False, False)
    assert trainings.read()["step"] == "verify"


def test_without_capacity_the_next_type_of_instance_is_tried(trainings):
    trainings.lab.plant(Kind.CAPACITY, operation="CreateTrainingJob")
    trainings.looked_after(trainings.begin())
    found = trainings.read()
    assert (found["step"], found["job"]["instanceType"]) == ("verify", TYPES[1])
    assert [name.rpartition("-")[2] for name in trainings.jobs()] == ["1", "2"]
    assert trainings.money()["committed"] == found["spentNanoUsd"]


def test_a_job_out_of_time_is_resumed_once(trainings, monkeypatch):
    create, brief = trainings.lab.sagemaker.create_training_job, ("-1",)

    def create_brief(**request):
        if request["TrainingJobName"].endswith(brief):
            stopping = {**request["StoppingCondition"], "MaxRuntimeInSeconds": 1}
            request = {**request, "StoppingCondition": stopping}
        return create(**request)

    monkeypatch.setattr(trainings.lab.sagemaker, "create_training_job", create_brief)
    trainings.runs_program(RESUMES)
    trainings.looked_after(trainings.begin())
    found = trainings.read()
    assert (found["step"], found["job"]["isResumed"]) == ("verify", True)
    trainings.step("fail_training", {**_under(trainings, found), "redrive": 0})

    brief = ("-1", "-2")
    trainings.runs_program(SLEEPS)
    assert trainings.looked_after(trainings.begin())["done"]
    assert trainings.read(2)["error"] == "out_of_time"
    assert len(trainings.jobs()) == 4
    assert trainings.money()["committed"] == trainings.money()["spent"] > 0


def _under(trainings, found):
    return {"task_id": trainings.task_id, "number": found["number"], "training_id": found["id"]}


@pytest.mark.parametrize("by_owner", [True, False])
def test_a_job_that_is_stopped_ends_its_training(trainings, by_owner):
    trainings.runs_program(SLEEPS)
    event = trainings.look(trainings.begin()._asdict())
    trainings.lab.reached(event["job"], "Training")
    if by_owner:
        answer = trainings.platform.call("POST", f"{TASK}/trainings/1/cancel")
        assert answer.status == 200, answer.text
        assert answer.json["training"]["state"] == "running"
    else:
        trainings.lab.sagemaker.stop_training_job(TrainingJobName=event["job"])
    assert trainings.ended(event["job"])["TrainingJobStatus"] == "Stopped"
    assert trainings.look(event)["done"]
    found = trainings.read()
    assert found["error"] == ("canceled" if by_owner else "job_stopped")
    assert trainings.money() == dict.fromkeys(("committed", "spent"), found["spentNanoUsd"])
    assert trainings.objects() == []
    again = trainings.platform.call("POST", f"{TASK}/trainings/1/cancel")
    assert (again.status, again.json["training"]["error"]) == (200, found["error"])


def test_a_job_whose_creation_was_not_answered_is_adopted(trainings):
    trainings.lab.plant(Kind.LOST_ANSWER, operation="CreateTrainingJob")
    under = trainings.begin()
    with pytest.raises(Exception, match="onnection"):
        trainings.look(under._asdict())
    trainings.looked_after(under)
    assert trainings.read()["step"] == "verify"
    assert len(trainings.jobs()) == 1


def test_a_job_is_the_stacks_by_its_name_and_its_tags(trainings, monkeypatch):
    monkeypatch.setenv("TRAINING_PREFIX", "staging")
    forget_processes()
    under = trainings.begin()
    trainings.look(under._asdict())
    [job] = trainings.jobs()
    assert job == f"staging-trn-{under.training_id.removeprefix('trn_')}-1"
    arn = trainings.lab.described(job)["TrainingJobArn"]
    assert trainings.lab.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [
        {"Key": "autotune:stack", "Value": "staging"},
        {"Key": "autotune:training", "Value": under.training_id},
        {"Key": "autotune:task", "Value": under.task_id},
    ]


def test_a_job_of_another_name_that_was_under_way_at_an_upgrade_is_looked_after(
    trainings, monkeypatch
):
    monkeypatch.setenv("TRAINING_PREFIX", "before")
    forget_processes()
    under = trainings.begin()
    trainings.look(under._asdict())
    monkeypatch.setenv("TRAINING_PREFIX", STACK)
    forget_processes()
    trainings.looked_after(under)
    assert trainings.read()["step"] == "verify"
    [job] = trainings.jobs()
    assert job.startswith("before-trn-")
    assert trainings.money()["committed"] == trainings.money()["spent"] > 0


def test_a_name_that_is_another_jobs_ends_a_training_and_leaves_that_job(trainings):
    under = trainings.begin()
    name = on_sagemaker.job_name(STACK, under.training_id, 1)
    boto3.client("s3").create_bucket(Bucket=LAB_BUCKET)
    other = trainings.lab.job(name, "import time; time.sleep(60)")
    trainings.lab.sagemaker.create_training_job(**other)
    trainings.lab.reached(name, "Training")
    for key in ("code/sourcedir.tar.gz", "train/rows.jsonl"):
        trainings.s3.delete_object(Bucket=LAB_BUCKET, Key=f"{name}/{key}")
    assert trainings.look(trainings.look(under._asdict()))["done"]
    assert trainings.read()["error"] == "job_name_taken"
    assert trainings.lab.described(name)["TrainingJobStatus"] == "InProgress"
    assert trainings.money() == {"committed": 0, "spent": 0}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (FAILS, "the program ended with an error"),
        (SAYS_WHY, "autotune: out_of_memory RuntimeError:12"),
    ],
)
def test_a_program_that_fails_ends_its_training_without_a_word_of_examples(
    trainings, script, reason
):
    trainings.runs_program(script)
    assert trainings.looked_after(trainings.begin())["done"]
    found = trainings.read()
    assert (found["state"], found["error"]) == ("failed", "algorithm_error")
    assert found["reason"] == reason
    assert found["spentNanoUsd"] == trainings.money()["spent"] > 0
    assert trainings.objects() == []


def test_jobs_that_sagemaker_fails_are_tried_three_times(trainings):
    trainings.lab.plant(Kind.INTERNAL_ERROR, operation="CreateTrainingJob", times=3)
    assert trainings.looked_after(trainings.begin())["done"]
    assert trainings.read()["error"] == "job_failed"
    assert trainings.read()["reason"] == "InternalServerError"
    assert len(trainings.jobs()) == 3


def test_an_artifact_that_was_tampered_with_is_refused(trainings):
    event = trainings.looked_after(trainings.begin())
    (key,) = [one for one in trainings.objects() if one.endswith("model.tar.gz")]
    content = trainings.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    trainings.s3.put_object(Bucket=BUCKET, Key=key, Body=content[:-20] + b"x" * 20)
    assert trainings.step("verify_artifact", event)["done"]
    found = trainings.read()
    assert (found["state"], found["error"]) == ("failed", "artifact_refused")
    assert found["reason"].startswith("the archive is broken")
    assert trainings.objects() == []


def test_the_month_of_a_task_is_never_overspent(trainings, monkeypatch):
    monkeypatch.setenv("TRAINING_PRICES", json.dumps(dict.fromkeys(TYPES, "30")))
    forget_processes()
    assert trainings.looked_after(trainings.begin())["done"]
    assert trainings.read()["error"] == "budget_exhausted"
    assert trainings.jobs() == []


def test_without_weights_nothing_is_trained(trainings):
    trainings.s3.delete_object(Bucket=BUCKET, Key=f"apprentice/bases/{BASE}/base.json")
    assert trainings.looked_after(trainings.begin())["done"]
    assert trainings.read()["error"] == "base_missing"
    assert trainings.money() == {"committed": 0, "spent": 0}


def test_the_job_of_a_deleted_task_is_stopped(trainings):
    trainings.runs_program(SLEEPS)
    event = trainings.look(trainings.begin()._asdict())
    trainings.lab.reached(event["job"], "Training")
    assert trainings.platform.call("DELETE", TASK).status == 204
    event = trainings.look(event)
    assert event["waits"]
    assert trainings.ended(event["job"])["TrainingJobStatus"] == "Stopped"
    assert trainings.objects() != []  # what it left when it was stopped
    assert trainings.look(event)["done"]
    assert trainings.objects() == []


def test_the_job_of_a_lost_execution_is_stopped(trainings):
    trainings.runs_program(SLEEPS)
    event = trainings.look(trainings.begin()._asdict())
    trainings.lab.reached(event["job"], "Training")
    handler("functions.apprentice.fail_training")(event, LambdaContext(60))
    assert trainings.ended(event["job"])["TrainingJobStatus"] == "Stopped"
    assert trainings.read()["error"] == "platform_error"
    # Nobody looks at what it cost: all that was set aside stays so.
    assert trainings.money()["committed"] == reserved_for(3_600, PRICES[TYPES[0]])


def test_a_training_that_can_no_longer_be_paid_for_does_not_start(trainings, monkeypatch):
    for prices, said in (
        ({}, "training.instanceTypes: no price is known for ml.g5.xlarge"),
        ({"ml.g5.xlarge": "30"}, "ml.g5.xlarge for maxRuntimeS may cost 37.50"),
    ):
        monkeypatch.setenv("TRAINING_PRICES", json.dumps(prices))
        forget_processes()
        answer = trainings.platform.call("POST", f"{TASK}/trainings")
        assert answer.status == 409
        assert said in answer.json["detail"]


def test_a_training_says_to_its_execution_that_jobs_train_it(trainings):
    answer = trainings.platform.call("POST", f"{TASK}/trainings")
    assert answer.status == 202, answer.text
    (event,) = inputs_of("train_student").values()
    assert event["in_jobs"]


@pytest.mark.parametrize("knows", [True, False])
def test_a_model_of_a_job_is_judged_where_it_is_hosted(trainings, knows):
    """From examples to a version in shadow, or to none, by the steps of one execution."""
    trainings.put(
        training={**TRAINING, "holdout": 0.5},
        thresholds={
            "phase1ToPhase2": 50,
            "phase2ToPhase3": 0.6,
            "coachingTrigger": 0.5,
            "emergencyThreshold": 0.3,
        },
    )
    trainings.runs.ledger.fake.world.answers.answerer = taught
    trainings.hosts_that_know(VERBS if knows else {"hello"})
    for value, _ in made_up(120):
        assert trainings.runs.start(value, wait=20).status == 200
    Apprentice.follow(None, Apprentice.records())
    answer = trainings.platform.call("POST", f"{TASK}/trainings")
    assert answer.status == 202, answer.text
    (event,) = inputs_of("train_student").values()
    event = trainings.step("freeze_examples", event)
    assert event["in_jobs"]
    while (event := trainings.look(event))["waits"]:
        trainings.ended(event["job"])
    event = trainings.step("verify_artifact", event)
    event = trainings.deployed(event)
    assert trainings.read()["step"] == "validate"
    event = trainings.step("validate_student", event)

    found = trainings.read()
    if not knows:
        assert (found["state"], found["objections"]) == ("discarded", ["agreement"])
        return
    assert found["test"]["mean"] == 1.0
    assert trainings.step("host_student", event)["done"]
    found = trainings.read()
    assert (found["state"], found["version"]) == ("hosted", 1)
    (version,) = trainings.platform.call("GET", f"{TASK}/versions").json["versions"]
    assert (version["backend"], version["digest"]) == ("sagemaker", found["model"]["sha256"])
    signed = trainings.platform.call("GET", f"{TASK}/versions/1/certificate").json["certificate"]
    # By which --verify tells that it is of this very model.
    assert signed["certificate"]["artifactSha256"] == version["digest"]
    base = (signed["certificate"]["baseModel"], signed["certificate"]["baseSha256"])
    assert base == (BASE, hashlib.sha256(BASE_LIST).hexdigest())
    assert signed["certificate"]["cost"]["spentNanoUsd"] == found["spentNanoUsd"] > 0
    forget_processes()  # which know versions for some seconds
    run = trainings.runs.start({"text": "please show my balance now"}, wait=20)
    stored = trainings.runs.stored(run.json["run"]["id"])
    assert [(pair.version, pair.score) for pair in stored.pairs] == [(1, 1.0)]
