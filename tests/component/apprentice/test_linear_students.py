"""Linear students answer from the function that hosts them, for a bounded time."""

import json
import time

import boto3
import pytest

from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalQuestion,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import MOST_BYTES, ModelServers
from autotune_platform.apprentice.local.linear import StudentInvocations
from autotune_platform.apprentice.students import hosting
from autotune_platform.apprentice.students.artifacts import digest_of, to_bytes
from autotune_platform.apprentice.students.files import ModelFiles, artifact_key
from autotune_platform.apprentice.students.linear import train
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients as aws
from autotune_platform.runtime.functions import Functions
from functions.apprentice import answer_linear
from tests.support.apprentice import OUTPUT_SCHEMA
from tests.support.model_servers import Lambda, NoNotes, replying, serving
from tests.support.students import made_up

TASK = "apt_0123456789abcdef"
MODEL = f"{TASK}-1-0123456789ab"
AMPLE_MS, BRIEF_MS = 20_000, 300


@pytest.fixture(scope="module")
def content():
    return to_bytes(train(made_up(400)))


@pytest.fixture
def files(platform):
    return ModelFiles(bucket="apprentice", s3=aws.s3())


@pytest.fixture
def digest(files, content):
    """Of a student whose artifact is stored."""
    answer_linear.parts.cache_clear()
    files.put(TASK, MODEL, content)
    yield digest_of(content)
    answer_linear.parts.cache_clear()


@pytest.fixture
def server(digest, monkeypatch):
    made = Lambda(handler=answer_linear.lambda_handler)
    with serving(made):
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", made.url)
        yield made


@pytest.fixture
def clients(server):
    with connection_pool(admit_private=True) as pool:
        servers = ModelServers(pool)
        students = StudentInvocations(functions=Functions(servers.send), function="AnswerLinear")

        def no_endpoints():
            pytest.fail("nobody asks SageMaker")

        yield BackendClients(
            servers=servers, endpoints=no_endpoints, students=lambda: students, notes=NoNotes()
        )


def ask(clients, served, *, text="please show my balance", timeout_ms=AMPLE_MS):
    document = {"local": {"backend": "linear", "url": None, "idleMinutes": 30}}
    question = LocalQuestion("Name it.", text, OUTPUT_SCHEMA, input={"text": text})
    return clients.client_for(document, served).ask(question, timeout_ms=timeout_ms)


def test_a_student_answers(clients, server, digest):
    answer = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(answer, LocalAnswer), answer
    assert json.loads(answer.text) == {"intent": "show_balance"}
    assert answer.served_model == MODEL
    assert 0.5 < answer.confidence <= 1
    ((path, event),) = server.asked
    assert path == "/2015-03-31/functions/AnswerLinear/invocations"
    assert event == {
        "model": MODEL,
        "digest": digest,
        "input": {"text": "please show my balance"},
    }


def test_an_artifact_is_read_once(digest, monkeypatch):
    read = []
    get = ModelFiles.get

    def counting(self, *args, **kwargs):
        read.append(args)
        return get(self, *args, **kwargs)

    monkeypatch.setattr(ModelFiles, "get", counting)
    event = {"model": MODEL, "digest": digest, "input": {"text": "cancel the flight"}}
    first = answer_linear.lambda_handler(event, None)
    assert answer_linear.lambda_handler(event, None) == first
    assert read == [(TASK, MODEL)]


def test_students_that_were_asked_last_are_kept(digest, files, content, monkeypatch):
    monkeypatch.setattr(hosting, "_KEPT_BYTES", int(len(content) * 1.5))
    host = hosting.StudentHost(files=files, kept=hosting._kept())
    other = f"{TASK}-2-0123456789ab"
    files.put(TASK, other, content)
    for model in (MODEL, other):
        assert host.answer(model, digest, {"text": "cancel the flight"})[0]
    assert [name for name, _ in host.kept] == [other]


def test_an_artifact_that_is_gone_is_no_model(clients, files, digest):
    files.delete(TASK, MODEL)
    found = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.NO_MODEL


def test_an_artifact_that_was_replaced_does_not_answer(clients, files, digest):
    files.put(TASK, MODEL, to_bytes(train(made_up(400, seed=2))))
    found = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.ANOTHER_VERSION


def test_what_is_no_artifact_does_not_answer(clients, files, digest):
    for content in (b"", b"no artifact", b"PK" + bytes(1_000)):
        files.put(TASK, MODEL, content)
        found = ask(clients, ServedModel(MODEL, digest_of(content)))

        assert isinstance(found, Unavailable)
        assert found.reason == Reason.ANOTHER_VERSION


def test_a_version_without_an_artifact_is_not_asked(clients, server):
    found = ask(clients, ServedModel(MODEL))

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.NO_MODEL
    assert server.asked == []


def test_no_name_leads_out_of_the_models(files):
    assert artifact_key("apt_1", "apt_1-1-x") == "apprentice/apt_1/models/apt_1-1-x/model.npz"


def test_a_tasks_artifacts_are_erased_and_no_others(files, content):
    files.put(TASK, MODEL, content)
    files.put("apt_1", "apt_1-1-x", content)
    files.erase(TASK)
    files.erase(TASK)
    listed = boto3.client("s3").list_objects_v2(Bucket="apprentice")["Contents"]
    assert [one["Key"] for one in listed] == [artifact_key("apt_1", "apt_1-1-x")]


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (429, "TooManyRequestsException", Reason.BUSY),
        (502, "ResourceNotReadyException", Reason.NOT_READY),
        (413, "RequestTooLargeException", Reason.REFUSED),
        (403, "AccessDeniedException", Reason.REFUSED),
        (404, "ResourceNotFoundException", Reason.FAILED),
        (500, "ServiceException", Reason.FAILED),
        (418, "SomethingNew", Reason.FAILED),
    ],
)
def test_what_lambda_refuses_is_a_reason(clients, server, digest, status, code, reason):
    server.refuses = (status, code)
    found = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(found, Unavailable)
    assert found.reason == reason
    assert len(server.asked) == 1


def test_a_function_that_fails_is_a_reason(clients, server, digest):
    def failing(event, context):
        raise RuntimeError("out of memory")

    server.handler = failing
    found = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.FAILED
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"body": b"{"}, Reason.UNREADABLE),
        ({"body": b"[]"}, Reason.UNREADABLE),
        ({"body": b"{}"}, Reason.UNREADABLE),
        ({"body": b'{"text": "a", "model": "b", "confidence": 2}'}, Reason.UNREADABLE),
        ({"body": b'{"text": "a", "model": "b", "confidence": true}'}, Reason.UNREADABLE),
        ({"body": b'{"text": "a", "model": "b", "confidence": 1}'}, Reason.ANOTHER_VERSION),
        ({"body": b'{"refused": "no_model"}'}, Reason.NO_MODEL),
        ({"body": b'{"refused": ["busy"]}'}, Reason.UNREADABLE),
        ({"body": b'"' + b"x" * MOST_BYTES + b'"'}, Reason.TOO_LARGE),
        ({"drops": True}, Reason.UNREACHABLE),
    ],
)
def test_no_answer_of_a_function_is_a_reason(clients, server, digest, fault, reason):
    server.fault = replying(**fault)
    found = ask(clients, ServedModel(MODEL, digest))

    assert isinstance(found, Unavailable)
    assert found.reason == reason
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [{"hangs": True}, {"drip_seconds": 0.1}])
def test_a_function_has_the_time_of_the_whole_call(clients, server, digest, fault):
    server.fault = replying(**fault)
    started = time.monotonic()
    found = ask(clients, ServedModel(MODEL, digest), timeout_ms=BRIEF_MS)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.TIMED_OUT
    assert time.monotonic() - started < 10
