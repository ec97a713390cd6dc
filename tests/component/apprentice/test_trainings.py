"""A training makes a version of a student that shows enough, and of no other."""

from contextlib import suppress

import boto3
import pytest

from tests.support.apprentice_folding import Apprentice
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes
from tests.support.students import made_up
from tests.support.trainings import STEPS, TASK, TRAINING
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


def objects():
    listed = boto3.client("s3").list_objects_v2(Bucket="apprentice").get("Contents", [])
    return sorted(one["Key"] for one in listed)


def versions(trainings):
    return trainings.platform.call("GET", f"{TASK}/versions").json["versions"]


def test_a_student_that_shows_enough_is_a_version_in_shadow(trainings):
    trainings.ask(160)
    found = trainings.train()

    assert (found["state"], found["step"], found["version"]) == ("hosted", "host", 1)
    assert found["data"]["train"] + found["data"]["holdout"] == 160
    test = found["test"]
    assert test["examples"] == found["data"]["holdout"]
    assert test["groups"] >= test["fewestGroups"]
    assert 0.6 < test["bound"] < test["mean"] <= 1
    assert test["evidence"] >= test["evidenceNeeded"] == 40
    (version,) = versions(trainings)
    assert version["model"] == found["model"]["name"]
    assert version["digest"] == found["model"]["sha256"]
    assert objects() == [
        f"apprentice/{trainings.task_id}/models/{found['model']['name']}/model.npz"
    ]
    status = trainings.platform.call("GET", f"{TASK}/status").json["status"]
    assert (status["phase"], status["candidate"]) == (2, 1)


def test_a_version_that_was_trained_is_asked_beside_the_paid_model(trainings):
    trainings.ask(160)
    trainings.train()
    forget_processes()  # which know versions for some seconds
    answer = trainings.runs.start({"text": "please show my balance now"}, wait=20)
    assert answer.status == 200, answer.text
    run = trainings.runs.stored(answer.json["run"]["id"])

    assert run.local_version == 1 or run.shadow_version == 1
    assert [(pair.version, pair.score) for pair in run.pairs] == [(1, 1.0)]


def test_a_hold_out_on_which_no_model_could_pass_trains_nothing(trainings):
    trainings.ask(20)
    found = trainings.train()

    assert (found["state"], found["objections"]) == ("discarded", ["too_few_examples"])
    assert found["step"] == "freeze"
    assert found["data"] is None
    lacks = found["shortage"]
    assert lacks["train"] + lacks["holdout"] == 20
    assert (lacks["trainNeeded"], lacks["holdoutNeeded"]) == (50, 12)
    assert versions(trainings) == []
    assert objects() == []


def test_inputs_that_come_again_do_not_make_a_hold_out_larger(trainings):
    for value, _ in made_up(10) * 12:
        assert trainings.runs.start(value, wait=20).status == 200
    Apprentice.follow(None, Apprentice.records())
    found = trainings.train()

    assert (found["state"], found["objections"]) == ("discarded", ["too_few_examples"])
    assert found["step"] == "freeze"
    assert found["shortage"]["holdout"] < 10 < found["shortage"]["holdoutNeeded"]
    assert found["shortage"]["train"] >= found["shortage"]["trainNeeded"]
    assert objects() == []


def test_a_student_that_does_not_show_enough_is_discarded_and_gone(trainings):
    trainings.put(thresholds={**_STRICT})
    trainings.ask(160)
    found = trainings.train()

    assert found["state"] == "discarded"
    assert "agreement" in found["objections"] or "too_few_examples" in found["objections"]
    assert versions(trainings) == []
    assert objects() == []


_STRICT = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.97,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.3,
}


def test_outputs_that_are_all_the_same_cannot_be_learned(trainings):
    trainings.runs.say('{"intent":"always"}')
    trainings.ask(160)
    found = trainings.train()

    assert (found["state"], found["error"]) == ("failed", "untrainable")
    assert found["reason"].endswith("rows are of 1 kinds; it takes 2 at least")
    assert objects() == []


def test_a_task_has_one_training_at_a_time(trainings):
    trainings.start()
    answer = trainings.platform.call("POST", f"{TASK}/trainings")

    assert answer.status == 409
    assert "training 1" in answer.json["detail"]
    trainings.step("fail_training", trainings.executions()[0])
    assert trainings.read(1)["error"] == "platform_error"
    assert trainings.start()["number"] == 2


def test_each_step_may_be_done_again(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    for name in STEPS:
        first = trainings.step(name, event)
        assert trainings.step(name, event) == first
    assert [one["number"] for one in versions(trainings)] == [1]
    assert trainings.read()["state"] == "hosted"


def test_a_version_has_its_model_wherever_the_last_step_was_killed(trainings):
    """The step is given up then: what is left is a version with its model, or neither."""
    trainings.ask(160)
    killer = Killer()
    killer.spare()

    def host(moment, *, after):
        trainings.start()
        event = trainings.executions()[0]
        trainings.steps(event, through="validate_student")
        killer.called.clear()
        killer.kill(moment, after=after)
        with suppress(Killed):
            trainings.step("host_student", event)
        killer.spare()
        trainings.step("fail_training", event)
        models = {key.split("/")[-2] for key in objects() if "/models/" in key}
        assert {one["model"] for one in versions(trainings)} == models
        return len(models)

    assert host("after-call", after=1_000) == 1
    writes = [place for place, name in enumerate(killer.called) if name == "TransactWriteItems"]
    assert writes
    for place in writes:
        before = host("before-call", after=place)
        assert host("after-call", after=place) == before + 1


def test_a_training_that_is_canceled_makes_no_version(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    answer = trainings.platform.call("POST", f"{TASK}/trainings/1/cancel")
    assert answer.status == 200, answer.text
    assert answer.json["training"]["error"] == "canceled"
    assert trainings.step("validate_student", event)["done"]
    assert versions(trainings) == []
    assert objects() == []


def test_an_artifact_that_was_tampered_with_is_refused(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    (key,) = [one for one in objects() if "/models/" in one]
    boto3.client("s3").put_object(Bucket="apprentice", Key=key, Body=b"PK something else")
    trainings.step("validate_student", event)

    found = trainings.read()
    assert (found["state"], found["error"]) == ("failed", "artifact_refused")
    assert versions(trainings) == []
    assert objects() == []


def test_data_that_was_tampered_with_is_refused(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="freeze_examples")
    for key in objects():
        boto3.client("s3").put_object(Bucket="apprentice", Key=key, Body=b"{}")
    trainings.step("train_linear", event)

    assert trainings.read()["error"] == "data_refused"


def test_another_definition_ends_a_training_that_is_under_way(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    trainings.put(systemPrompt="You tell intents apart otherwise, in JSON.")
    trainings.steps(event)

    found = trainings.read()
    assert (found["state"], found["error"]) == ("failed", "task_changed")
    assert versions(trainings) == []


def test_a_deleted_task_takes_its_trainings_along(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="train_linear")
    assert trainings.platform.call("DELETE", TASK).status == 204
    assert trainings.step("validate_student", event)["done"]
    assert objects() == []
    assert trainings.platform.call("GET", f"{TASK}/trainings/1").status == 404


def test_a_task_without_training_is_refused(trainings):
    trainings.put(training=None, local={"backend": "vllm", "url": "http://127.0.0.1:9"})
    answer = trainings.platform.call("POST", f"{TASK}/trainings")
    assert answer.status == 409
    assert "has no training" in answer.json["detail"]


def test_trainings_are_listed_newest_first(trainings):
    for _ in range(3):
        trainings.start()
        trainings.step("fail_training", trainings.executions()[0])
    first = trainings.platform.call("GET", f"{TASK}/trainings", query={"limit": "2"}).json
    assert [one["number"] for one in first["trainings"]] == [3, 2]
    rest = trainings.platform.call(
        "GET", f"{TASK}/trainings", query={"nextToken": first["nextToken"]}
    ).json
    assert [one["number"] for one in rest["trainings"]] == [1]
    assert trainings.platform.call("GET", f"{TASK}/trainings/4").status == 404


def test_the_next_version_is_compared_with_the_one_that_serves(trainings):
    trainings.ask(160)
    trainings.train()
    forget_processes()  # which know versions for some seconds
    trainings.ask(60, seed=2)
    promoted = trainings.platform.call("POST", f"{TASK}/versions/1/promote")
    assert promoted.status == 200, promoted.text
    assert trainings.read()["version"] == 1
    trainings.put(training={**TRAINING, "noninferiorityMargin": 0.3})
    found = trainings.train()

    assert found["test"] is not None, found
    assert found["test"]["attempt"] == 2
    assert found["test"]["evidenceNeeded"] == 120
    comparison = found["test"]["comparison"]
    assert comparison["version"] == 1
    assert comparison["margin"] == 0.3
    assert (found["state"], found["version"]) == ("hosted", 2)
