"""A model that is trained and paid for, and that SageMaker has no instance for."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from autotune_platform.apprentice.hosting import lacking, making
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.training.repository import TrainingRepository
from local.sagemaker.faults import Kind
from tests.support.executions import inputs_of
from tests.support.ledger import later
from tests.support.training_jobs import TASK, TRAINING, TYPES, job_trainings
from tests.support.trainings import THRESHOLDS, taught
from tests.support.unhosted_trainings import (
    CREATE,
    answered,
    archive,
    changed,
    host,
    last_event,
    sweep,
    trained,
    unhosted,
)


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


def test_a_training_goes_on_with_the_type_of_instance_that_is_to_be_had(trainings):
    trainings.lab.plant(Kind.CAPACITY, operation=CREATE)
    trainings.deployed(trained(trainings))
    found = trainings.read()
    assert found["step"] == "validate"
    assert (found["hosting"]["instanceType"], found["hosting"]["lacks"]) == (TYPES[1], [])


NO_CAPACITY = "SageMaker has no ml.g5.2xlarge: put other training.instanceTypes"
REFUSED = "SageMaker takes no {} for endpoints here: put other training.instanceTypes"
BEYOND = "the account's quota has no room for {} for endpoint usage: have it raised"


@pytest.mark.parametrize(
    ("kinds", "error", "said"),
    [
        (
            [Kind.RESOURCE_LIMIT, Kind.CAPACITY],
            "hosting_capacity",
            f"{NO_CAPACITY}; {BEYOND.format(TYPES[0])}",
        ),
        ([Kind.RESOURCE_LIMIT] * 2, "hosting_quota", BEYOND.format(" or ".join(TYPES))),
        ([Kind.REFUSED] * 2, "not_hosted", REFUSED.format(" or ".join(TYPES))),
        (
            [Kind.REFUSED, Kind.RESOURCE_LIMIT],
            "hosting_quota",
            f"{REFUSED.format(TYPES[0])}; {BEYOND.format(TYPES[1])}",
        ),
    ],
)
def test_a_model_without_a_host_is_kept_and_its_error_says_what_to_do(
    trainings, monkeypatch, kinds, error, said
):
    for kind in kinds:
        operation = "CreateEndpointConfig" if kind == Kind.REFUSED else CREATE
        trainings.lab.plant(kind, operation=operation)
    monkeypatch.setattr(lacking, "GIVE_UP_AFTER", timedelta())
    event = trained(trainings)
    (kept,) = archive(trainings)
    assert trainings.deployed(event)["done"]
    found = trainings.read()
    assert (found["state"], found["error"], found["reason"]) == ("failed", error, said)
    days = datetime.fromisoformat(found["modelKeptUntil"]) - datetime.now(UTC)
    assert timedelta(days=29) < days <= timedelta(days=30)
    trainings.step("deploy_student", event)  # one that is late deletes nothing either
    assert trainings.objects() == [kept]
    sweep(trainings)
    assert trainings.read() == found

    # What is kept goes in the end, by an execution of its own.
    repository = TrainingRepository(trainings.table)
    training = repository.get(trainings.task_id, 1)
    past = datetime.now(UTC) - timedelta(seconds=1)
    over = training.model_copy(update={"model_kept_until": past, "due_at": past})
    assert trainings.table.write_together([repository.changed(training, over)], token="t") is None
    sweep(trainings)
    assert trainings.read()["modelKeptUntil"] is None
    last = max(inputs_of("train_student").values(), key=lambda one: one["redrive"])
    assert trainings.step("freeze_examples", last)["done"]
    assert trainings.objects() == []
    sweep(trainings)


def test_a_model_beyond_the_limit_of_components_blames_no_instance(trainings):
    event = trained(trainings)
    trainings.step("deploy_student", event)
    hostings = HostingRepository(trainings.table).of_task(trainings.task_id)
    (adapter,) = (one.name for one in hostings if one.kind == "adapter")
    create = "CreateInferenceComponent"
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=create, name=adapter)
    assert trainings.deployed(event)["done"]
    found = trainings.read()
    assert (found["error"], found["hosting"]["lacks"]) == ("hosting_quota", [])
    assert found["reason"].startswith("the account may host no more: ")
    assert "inference components per endpoint" in found["reason"]
    assert TYPES[0] not in found["reason"]


def test_a_model_that_sagemaker_does_not_take_is_kept_and_holds_back_the_next(
    trainings, monkeypatch
):
    """The next one would be of the same base, and would not be taken either."""
    trainings.lab.plant(Kind.REFUSED, operation="CreateModel", times=1_000)
    monkeypatch.setattr(making, "SEEN_WITHIN", timedelta(seconds=-1))
    trainings.put(training={**TRAINING, "holdout": 0.5}, thresholds=THRESHOLDS)
    trainings.runs.ledger.fake.world.answers.answerer = taught
    event = trained(trainings)
    (kept,) = archive(trainings)
    assert trainings.deployed(event)["done"]
    found = trainings.read()
    assert found["error"] == "not_hosted"
    said = "SageMaker takes no such model, whatever the instance: Instance type of this request"
    assert found["reason"].startswith(said)
    assert (found["hosting"]["lacks"], trainings.objects()) == ([], [kept])
    assert found["reason"].endswith(found["hosting"]["refusal"])

    answered(trainings, seed=1)
    sweep(trainings)
    assert trainings.trainings_of_it() == [1]
    waits = trainings.shown("status")["nextTraining"]["waits"]
    assert (waits["reason"], waits["until"]) == ("hosting", found["modelKeptUntil"])
    assert f"was not taken by SageMaker ({found['hosting']['refusal']})" in waits["message"]


def test_a_model_that_waits_says_what_for_and_is_looked_at_less_and_less(trainings):
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    event = trained(trainings)
    assert trainings.step("deploy_student", event)["seconds"] == 30
    for _ in range(4):
        for one in trainings.table.items(f"{trainings.task_id}#hosting"):
            trainings.table.update(one["pk"], one["sk"], {"due_at": "2026-01-01T00:00:00.000Z"})
        trainings.step("sweep_hostings", {})
    hostings = HostingRepository(trainings.table)
    (adapter,) = (one for one in hostings.of_task(trainings.task_id) if one.kind == "adapter")
    earlier = adapter.model_copy(update={"since": adapter.since - timedelta(hours=5)})
    assert hostings.change(adapter, earlier)
    found = trainings.step("deploy_student", event)
    assert found["waits"]
    assert found["seconds"] == 300
    shown = trainings.read()
    assert (shown["state"], shown["step"], shown["error"]) == ("running", "deploy", None)
    lacks = [{"instanceType": one, "lack": "quota"} for one in TYPES]
    assert shown["hosting"]["lacks"] == lacks
    assert shown["hosting"]["triedAgainAt"] > shown["hosting"]["since"]


def test_a_model_that_cannot_be_hosted_ends_at_once_and_is_kept(trainings):
    event = trained(trainings)
    (kept,) = archive(trainings)
    trainings.step("deploy_student", event)
    hostings = HostingRepository(trainings.table).of_task(trainings.task_id)
    (base,) = (one.name for one in hostings if one.kind == "base")
    somebodys = {"VariantName": "all", "InstanceType": TYPES[0], "InitialInstanceCount": 1}
    trainings.lab.sagemaker.create_endpoint_config(
        EndpointConfigName="others",
        ProductionVariants=[somebodys],
        ExecutionRoleArn="arn:aws:iam::123456789012:role/others",
    )
    trainings.lab.sagemaker.create_endpoint(EndpointName=base, EndpointConfigName="others")
    assert trainings.deployed(event)["done"]
    found = trainings.read()
    assert (found["error"], found["reason"]) == ("not_hosted", "name_taken")
    assert trainings.objects() == [kept]


def test_a_training_that_is_canceled_leaves_nothing_unverified_though_its_execution_died(trainings):
    trainings.looked_after(trainings.begin())
    assert trainings.read()["step"] == "verify"
    assert any("/jobs/" in key for key in trainings.objects())

    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200

    event = last_event()
    assert event["redrive"] == 1
    assert trainings.step("freeze_examples", event)["done"]
    assert (trainings.read()["modelKeptUntil"], trainings.objects()) == (None, [])


def test_a_training_that_cannot_be_read_holds_up_no_other_and_waits_behind_them(
    trainings, monkeypatch
):
    kept = unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    place = f"{trainings.task_id}#trainings"
    past = "2026-01-01T00:00:00.000Z"
    key = (place, "training#000001")
    trainings.table.update(*key, {"open_shard": "trainings", "due_at": past, "step": "unknown"})
    changed(trainings, due_at=datetime.now(UTC) - timedelta(seconds=1))

    with pytest.raises(ValidationError):
        sweep(trainings)

    assert last_event() == {**last_event(), "number": 2, "redrive": 1}
    assert trainings.table.get(*key)["due_at"] > f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"
    sweep(trainings)
    assert archive(trainings) == [kept]


def test_a_kept_model_that_cannot_be_let_go_waits_behind_others(trainings, monkeypatch):
    unhosted(trainings, monkeypatch)
    past = datetime.now(UTC) - timedelta(seconds=1)
    changed(trainings, number=1, model_kept_until=past, due_at=past)
    with monkeypatch.context() as patched:
        patched.setattr(TrainingRepository, "let_go", _failing)
        with pytest.raises(RuntimeError):
            sweep(trainings)
    due = datetime.fromisoformat(
        trainings.table.get(f"{trainings.task_id}#trainings", "training#000001")["due_at"]
    )
    assert due > datetime.now(UTC) + timedelta(minutes=14)
    sweep(trainings)
    assert trainings.read()["modelKeptUntil"] is not None
    with later(timedelta(minutes=16)):
        sweep(trainings)
    assert trainings.read()["modelKeptUntil"] is None


def _failing(*_):
    raise RuntimeError("sick")


def test_no_training_begins_by_itself_while_a_model_waits_for_a_host(trainings, monkeypatch):
    """The next one would be paid for and could not be hosted either; somebody may begin it."""
    trainings.put(training={**TRAINING, "holdout": 0.5}, thresholds=THRESHOLDS)
    trainings.runs.ledger.fake.world.answers.answerer = taught
    unhosted(trainings, monkeypatch)
    answered(trainings, seed=1)

    sweep(trainings)

    assert (trainings.trainings_of_it(), len(trainings.jobs())) == ([1], 1)
    waits = trainings.shown("status")["nextTraining"]["waits"]
    kept_until = trainings.read()["modelKeptUntil"]
    assert (waits["reason"], waits["until"]) == ("hosting", kept_until)
    assert "the model of training 1 is kept until" in waits["message"]
    assert trainings.platform.call("POST", f"{TASK}/trainings").status == 202
    assert trainings.trainings_of_it() == [2, 1]
    assert trainings.shown("status")["nextTraining"]["waits"] is None


def test_a_model_that_is_kept_is_not_let_go_before_its_time(trainings, monkeypatch):
    """The index may have a training as overdue that ended a moment ago."""
    kept = unhosted(trainings, monkeypatch)
    found = trainings.read()
    repository = TrainingRepository(trainings.table)
    training = repository.get(trainings.task_id, 1)
    stored = trainings.table.get(f"{trainings.task_id}#trainings", "training#000001")
    monkeypatch.setattr(TrainingRepository, "due", lambda *_, **__: iter([stored]))
    begun = len(inputs_of("train_student"))

    sweep(trainings)

    assert trainings.read() == found
    assert (len(inputs_of("train_student")), archive(trainings)) == (begun, [kept])
    earlier = training.model_copy(update={"model_kept_until": datetime.now(UTC)})
    assert not repository.let_go(earlier)
    assert repository.let_go(training)
