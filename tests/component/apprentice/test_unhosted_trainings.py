"""A model that is trained and paid for, and that SageMaker has no instance for."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from pydantic import ValidationError

from autotune import verify_certificate
from autotune.protocol.apprentice_trainings import ApprenticeTrainingTest
from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.sweeping import MOST_REDRIVES
from local.sagemaker.faults import Kind
from tests.support.apprentice_folding import Apprentice
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import later
from tests.support.students import made_up
from tests.support.training_jobs import BASE, TASK, TRAINING, TYPES, job_trainings, store_base
from tests.support.trainings import THRESHOLDS, VERBS, taught

CREATE = "CreateEndpoint"


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


def trained(trainings):
    """Return the event of a training whose model is to be hosted."""
    after = trainings.looked_after(trainings.begin())
    after = trainings.step("verify_artifact", after)
    assert trainings.read()["step"] == "deploy"
    return after


def archive(trainings):
    return [key for key in trainings.objects() if "/models/" in key]


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


def sweep(trainings):
    handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))


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


def test_a_kept_model_is_hosted_and_judged_without_being_trained_again(trainings, monkeypatch):
    """From examples to a version in shadow, by two trainings and one job."""
    trainings.put(training={**TRAINING, "holdout": 0.5}, thresholds=THRESHOLDS)
    trainings.runs.ledger.fake.world.answers.answerer = taught
    trainings.hosts_that_know(VERBS)
    answered(trainings, seed=1)
    assert trainings.platform.call("POST", f"{TASK}/trainings").status == 202
    (first,) = inputs_of("train_student").values()
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    with monkeypatch.context() as patched:
        patched.setattr(lacking, "GIVE_UP_AFTER", timedelta())
        assert steps_to_its_host(trainings, first)["done"]
    failed = trainings.read()
    assert failed["error"] == "hosting_quota"
    (kept,) = archive(trainings)

    answer = host(trainings)
    assert answer.status == 202, answer.text
    begun = answer.json["training"]
    assert (begun["number"], begun["modelOf"], begun["model"]) == (2, 1, failed["model"])
    assert trainings.read()["modelKeptUntil"] is None
    assert host(trainings).status == 409
    trainings.step("deploy_student", first)  # it is of another training by now
    assert archive(trainings) == [kept]

    answered(trainings, seed=2)
    second = max(inputs_of("train_student").values(), key=lambda one: one["number"])
    assert not steps_to_its_host(trainings, second)["done"]
    trainings.step("validate_student", second)
    assert trainings.step("host_student", second)["done"]
    found = trainings.read(2)
    assert (found["state"], found["version"]) == ("hosted", 1)
    assert found["data"]["trainSha256"] == failed["data"]["trainSha256"]
    assert found["data"]["holdout"] > failed["data"]["holdout"]
    assert (found["spentNanoUsd"], len(trainings.jobs())) == (0, 1)
    assert archive(trainings) == [kept]
    refused = host(trainings)
    assert (refused.status, "has the model" in refused.json["detail"]) == (409, True)
    _require_certificate(trainings, failed, found)


def _require_certificate(trainings, made_by, judged_by):
    """Require it to say what the model cost and when, by the training that made it."""
    answer = trainings.platform.call("GET", f"{TASK}/versions/1/certificate")
    assert answer.status == 200, answer.text
    key = trainings.platform.call("GET", "/api/v1/apprentice/certificate-key")
    public = key.json["certificateKey"]["publicKey"]
    said = verify_certificate(answer.json["certificate"], public)

    assert (said.training_id, said.training) == (judged_by["id"], judged_by["number"])
    assert said.model_of == made_by["number"]
    assert said.cost.spent_nano_usd == made_by["spentNanoUsd"] > 0
    assert float(said.cost.seconds) == made_by["model"]["seconds"]
    repository = TrainingRepository(trainings.table)
    first, second = (repository.get(trainings.task_id, number) for number in (1, 2))
    assert said.trained_at == first.created_at
    assert said.data.frozen_at == first.manifest.frozen_at
    assert said.data.holdout_frozen_at == second.manifest.frozen_at
    assert said.data.train_sha256 == made_by["data"]["trainSha256"]
    assert said.data.holdout_sha256 == judged_by["data"]["holdoutSha256"]


def host(trainings, number=1):
    return trainings.platform.call("POST", f"{TASK}/trainings/{number}/host")


def answered(trainings, *, seed):
    for value, _ in made_up(120, seed=seed):
        assert trainings.runs.start(value, wait=20).status == 200
    Apprentice.follow(None, Apprentice.records())


def steps_to_its_host(trainings, event):
    """Do the steps of an execution until its model is hosted, or is not."""
    event = trainings.step("freeze_examples", event)
    while (event := trainings.look(event))["waits"]:
        trainings.ended(event["job"])
    return trainings.deployed(trainings.step("verify_artifact", event))


def test_what_is_not_kept_or_of_another_task_by_now_is_not_hosted(trainings, monkeypatch):
    def said():
        answer = host(trainings)
        assert answer.status == 409, answer.text
        return answer.json["detail"]

    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    monkeypatch.setattr(lacking, "GIVE_UP_AFTER", timedelta())
    assert trainings.platform.call("POST", f"{TASK}/trainings/1/host").status == 404
    event = trained(trainings)
    assert "no model of training 1 is kept" in said()
    assert trainings.deployed(event)["done"]
    store_base("another/base")
    trainings.put(training={**TRAINING, "baseModel": "another/base"})
    assert f"is of training.baseModel {BASE}" in said()
    trainings.put(description="Another task.", systemPrompt="Say it otherwise.")
    assert "another definition" in said()


def canceled(trainings, event):
    answer = trainings.platform.call("POST", f"{TASK}/trainings/2/cancel")
    assert answer.status == 200, answer.text
    return "canceled"


def given_up(trainings, event):
    trainings.step("fail_training", event)
    return "platform_error"


def of_another_task(trainings, event):
    trainings.put(systemPrompt="Say it otherwise.")
    return "task_changed"


def with_too_few_examples(trainings, event):
    return None  # there are none at all


@pytest.mark.parametrize(
    "end",
    [canceled, given_up, of_another_task, with_too_few_examples],
    ids=lambda one: one.__name__,
)
def test_a_model_that_was_taken_over_and_not_judged_is_kept_and_may_be_hosted_again(
    trainings, monkeypatch, end
):
    """From examples of a job to the step that has its model hosted, by three trainings."""
    kept = unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    event = last_event()
    error = end(trainings, event)

    assert trainings.step("freeze_examples", event)["done"]

    ended = trainings.read(2)
    assert (ended["state"], ended["error"]) == (("failed", error) if error else ("discarded", None))
    assert trainings.objects() == [kept]
    until = datetime.fromisoformat(ended["modelKeptUntil"])
    assert timedelta(days=29) < until - datetime.now(UTC) <= timedelta(days=30)
    sweep(trainings)
    assert (trainings.read(2), trainings.objects()) == (ended, [kept])

    trainings.put(training={**TRAINING, "holdout": 0.5}, thresholds=THRESHOLDS)
    trainings.runs.ledger.fake.world.answers.answerer = taught
    answered(trainings, seed=2)
    answer = host(trainings, 2)
    assert answer.status == 202, answer.text
    assert answer.json["training"]["modelOf"] == 1
    assert trainings.read(2)["modelKeptUntil"] is None
    assert not trainings.step("freeze_examples", last_event())["done"]
    third, first = trainings.read(3), trainings.read(1)
    assert third["step"] == "deploy"
    assert third["data"]["trainSha256"] == first["data"]["trainSha256"]


def test_a_model_that_was_taken_over_and_judged_is_not_kept(trainings, monkeypatch):
    unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    test = ApprenticeTrainingTest(
        attempt=1,
        examples=40,
        groups=40,
        fewest_groups=40,
        threshold=0.9,
        mean=0.95,
        bound=0.9,
        evidence=20.0,
        evidence_needed=20.0,
        valid=1.0,
        slow_ms=100,
    )
    changed(trainings, step="host", test=test)
    canceled(trainings, None)
    assert trainings.read(2)["modelKeptUntil"] is None
    assert trainings.step("freeze_examples", last_event())["done"]
    assert trainings.objects() == []


def test_a_task_that_is_deleted_takes_a_model_along_that_is_kept_again(trainings, monkeypatch):
    unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    canceled(trainings, None)
    assert trainings.read(2)["modelKeptUntil"]

    answer = trainings.platform.call("DELETE", TASK)
    assert answer.status in {202, 204}, answer.text

    assert trainings.objects() == []


def test_a_kept_model_of_a_training_that_was_given_up_goes_in_the_end(trainings, monkeypatch):
    """Giving up begins an execution that keeps the model: another one is to delete it."""
    kept = unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    past = datetime.now(UTC) - timedelta(seconds=1)
    changed(trainings, redrive=MOST_REDRIVES, due_at=past)
    sweep(trainings)
    assert trainings.read(2)["error"] == "platform_error"
    assert trainings.step("freeze_examples", last_event())["done"]
    assert trainings.objects() == [kept]

    changed(trainings, model_kept_until=past, due_at=past)
    sweep(trainings)

    assert trainings.read(2)["modelKeptUntil"] is None
    assert last_event()["redrive"] > MOST_REDRIVES + 1
    assert trainings.step("freeze_examples", last_event())["done"]
    assert trainings.objects() == []


def test_a_model_that_is_hosted_later_has_no_training_begin_sooner(trainings, monkeypatch):
    """What the last training had seen of examples makes none again, whoever was hosted since."""
    unhosted(trainings, monkeypatch)
    repository = TrainingRepository(trainings.table)
    last = (f"{trainings.task_id}#trainings", "last")
    trainings.table.update(*last, {"examples": 400})
    assert host(trainings).status == 202
    assert repository.last(trainings.task_id).examples == 400

    canceled(trainings, last_event())
    # Of another definition none was ever seen by this one's.
    trainings.table.update(*last, {"examples": 900, "definition_hash": "another"})
    assert host(trainings, 2).status == 202
    assert repository.last(trainings.task_id).examples == 400


def test_a_training_that_is_canceled_leaves_nothing_though_its_execution_died(trainings):
    trained(trainings)
    assert archive(trainings)

    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200

    event = last_event()
    assert event["redrive"] == 1
    assert trainings.step("freeze_examples", event)["done"]
    assert trainings.objects() == []


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
    assert (waits["reason"], waits["until"]) == ("hosting", None)
    assert "the model of training 1 is kept until" in waits["message"]
    assert trainings.platform.call("POST", f"{TASK}/trainings").status == 202
    assert trainings.trainings_of_it() == [2, 1]
    assert trainings.shown("status")["nextTraining"]["waits"] is None


def changed(trainings, number=2, **fields):
    """Store a training as it is not yet."""
    repository = TrainingRepository(trainings.table)
    training = repository.get(trainings.task_id, number)
    stored = repository.changed(training, training.model_copy(update=fields))
    assert trainings.table.write_together([stored], token=uuid4().hex) is None


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


def unhosted(trainings, monkeypatch):
    """Have training 1 end without a host; return where its model is."""
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    with monkeypatch.context() as patched:
        patched.setattr(lacking, "GIVE_UP_AFTER", timedelta())
        assert trainings.deployed(trained(trainings))["done"]
    (kept,) = archive(trainings)
    return kept


def last_event():
    begun = inputs_of("train_student").values()
    return max(begun, key=lambda one: (one["number"], one["redrive"]))
