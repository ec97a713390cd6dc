"""A model that was kept without a host: it is hosted and judged later, or goes in the end."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune import verify_certificate
from autotune.protocol.apprentice_trainings import ApprenticeTrainingTest
from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.sweeping import MOST_REDRIVES
from autotune_platform.runtime.executions import Executions
from local.sagemaker.faults import Kind
from tests.support.executions import inputs_of
from tests.support.training_jobs import BASE, TASK, TRAINING, job_trainings, store_base
from tests.support.trainings import THRESHOLDS, VERBS, taught
from tests.support.unhosted_trainings import (
    CREATE,
    answered,
    archive,
    changed,
    host,
    last_event,
    steps_to_its_host,
    sweep,
    trained,
    unhosted,
)


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


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
    before = trainings.read()
    assert (before["modelKeptUntil"], before["modelTakenBy"]) == (None, 2)
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
    answer = trainings.platform.call("POST", f"{TASK}/trainings/{event['number']}/cancel")
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


@pytest.mark.parametrize("end", [canceled, given_up], ids=lambda one: one.__name__)
def test_a_model_of_a_job_that_waits_for_a_host_is_kept_whatever_ends_its_training(trainings, end):
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    event = trained(trainings)
    assert trainings.step("deploy_student", event)["waits"]
    (kept,) = archive(trainings)

    error = end(trainings, event)

    # Its own execution, and the one that tidies up after it.
    for one in (event, {**event, "redrive": event["redrive"] + 1}):
        trainings.step("freeze_examples", one)
    ended = trainings.read()
    assert (ended["state"], ended["error"]) == ("failed", error)
    assert trainings.objects() == [kept]
    until = datetime.fromisoformat(ended["modelKeptUntil"])
    assert timedelta(days=29) < until - datetime.now(UTC) <= timedelta(days=30)
    sweep(trainings)
    assert (trainings.read(), trainings.objects()) == (ended, [kept])
    answer = host(trainings)
    assert answer.status == 202, answer.text
    assert answer.json["training"]["modelOf"] == 1


@pytest.mark.parametrize("is_taken", [True, False])
def test_what_is_left_beside_a_kept_model_is_deleted_whoever_has_that(
    trainings, monkeypatch, is_taken
):
    """No execution could be begun as the training ended: it is looked at until one is."""
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    event = trained(trainings)
    assert trainings.step("deploy_student", event)["waits"]
    (kept,) = archive(trainings)
    with monkeypatch.context() as patched:
        patched.setattr(Executions, "try_start", lambda *_: False)
        canceled(trainings, event)
    assert kept in trainings.objects() != [kept]
    until = trainings.read()["modelKeptUntil"]
    if is_taken:
        assert host(trainings).status == 202
        until = None
    changed(trainings, 1, due_at=datetime.now(UTC) - timedelta(minutes=1))

    sweep(trainings)

    begun = [one for one in inputs_of("train_student").values() if one["number"] == 1]
    assert [one["redrive"] for one in begun] == [1]
    trainings.step("freeze_examples", begun[0])
    assert trainings.objects() == [kept]
    assert trainings.read()["modelKeptUntil"] == until
    stored = trainings.table.get(f"{trainings.task_id}#trainings", "training#000001")
    assert ("open_shard" in stored, "is_left" in stored) == (not is_taken, False)
    assert is_taken or datetime.fromisoformat(stored["due_at"]) > datetime.now(UTC)


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
    canceled(trainings, last_event())
    assert trainings.read(2)["modelKeptUntil"] is None
    assert trainings.step("freeze_examples", last_event())["done"]
    assert trainings.objects() == []


def test_a_model_that_is_not_what_was_verified_is_not_kept(trainings, monkeypatch):
    unhosted(trainings, monkeypatch)
    training = TrainingRepository(trainings.table).get(trainings.task_id, 1)
    training = training.model_copy(update={"model_kept_until": None})
    now = datetime.now(UTC)

    assert training.ended(now, error="artifact_refused").model_kept_until is None
    assert training.ended(now, error="data_refused").model_kept_until == now + timedelta(days=30)


def test_a_task_that_is_deleted_takes_a_model_along_that_is_kept_again(trainings, monkeypatch):
    unhosted(trainings, monkeypatch)
    assert host(trainings).status == 202
    canceled(trainings, last_event())
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
