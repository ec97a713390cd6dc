"""Runs that a linear student answers: from the API's route to the function that hosts it."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from autotune_platform.apprentice.students.artifacts import digest_of, to_bytes
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.students.linear import train
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients
from autotune_platform.wiring import apprentice as wiring
from functions.apprentice import answer_linear
from tests.support.apprentice_folding import Apprentice
from tests.support.lambdas import forget_processes
from tests.support.model_servers import Lambda, serving
from tests.support.students import made_up

UNCHECKED = {"decay": "exponential", "k": 100, "minFloor": 0.001}


@pytest.fixture
def server(monkeypatch):
    made = Lambda(handler=answer_linear.lambda_handler)
    with serving(made), connection_pool(admit_private=True) as pool:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", made.url)
        monkeypatch.setattr(wiring, "connection_pool", lambda **_: pool)
        yield made


@pytest.fixture
def task(runs, server):
    """A task whose linear student has graduated, and passed its canary."""
    made = Apprentice(runs.platform, runs.connection_id)
    made.put(sampling=UNCHECKED, local={"backend": "linear", "timeoutMs": 20_000})
    content = to_bytes(train(made_up(400)))
    model = f"{made.task.id}-1-0123456789ab"
    ModelFiles(bucket="apprentice", s3=clients.s3()).put(made.task.id, model, content)
    version = {"backend": "linear", "model": model, "digest": digest_of(content)}
    made.add_version(1, **version)
    now = datetime.now(UTC) - timedelta(minutes=5)
    made.store([made.answered(1.0, created_at=now) for _ in range(200)])
    made.follow()
    made.add_version(1, canary_at=200, **version)
    forget_processes()
    return made


def answered_by(run):
    return run["routing"]["answers"]


def test_behind_a_gate_a_student_leaves_to_the_paid_model_what_it_is_unsure_of(runs, task):
    task.put(
        sampling=UNCHECKED,
        local={"backend": "linear", "timeoutMs": 20_000, "gate": "confidence"},
    )
    (key,) = stored_files()
    content = boto3.client("s3").get_object(Bucket="apprentice", Key=key)["Body"].read()
    gate = {"confidence": 0.8, "coverage": 0.9, "least_coverage": 0.77}
    version = {"backend": "linear", "model": key.split("/")[-2], "digest": digest_of(content)}
    task.add_version(1, canary_at=200, gate=gate, **version)
    task.follow()
    forget_processes()

    sure, unsure = (
        runs.start({"text": text}, wait=20).json["run"]
        for text in ("please explain the weather", "zyxw vut srq")
    )

    assert (answered_by(sure), sure["output"]) == ("local", {"intent": "explain_weather"})
    assert (answered_by(unsure), unsure["routing"]["escalated"]) == ("remote", True)
    assert sure["routing"]["localConfidence"] >= 0.8 > unsure["routing"]["localConfidence"] > 0


def stored_files():
    listed = boto3.client("s3").list_objects_v2(Bucket="apprentice").get("Contents", [])
    return [one["Key"] for one in listed]


def test_a_student_answers_alone_once_it_may(runs, task, server):
    paid = runs.bill["executions"]
    answer = runs.start({"text": "please explain the weather"}, wait=20)

    assert answer.status == 200, answer.text
    run = answer.json["run"]
    assert run["output"] == {"intent": "explain_weather"}
    assert answered_by(run) == "local"
    assert runs.bill["executions"] == paid
    ((path, event),) = server.asked
    assert path.endswith("/functions/answer_linear/invocations")
    assert event["input"] == {"text": "please explain the weather"}


def test_a_student_whose_artifact_was_tampered_with_answers_nobody(runs, task):
    (key,) = stored_files()
    boto3.client("s3").put_object(Bucket="apprentice", Key=key, Body=b"another model")
    answer = runs.start({"text": "please explain the weather"}, wait=20)

    assert answer.status == 200, answer.text
    assert answered_by(answer.json["run"]) == "remote"


def test_a_deleted_task_leaves_no_student(runs, task):
    assert len(stored_files()) == 1
    assert runs.platform.call("DELETE", "/api/v1/apprentice/tasks/intents").status == 204
    assert stored_files() == []
