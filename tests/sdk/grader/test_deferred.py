"""Graders that answer 202 and score later: in the background, or by a queue of their owner."""

import json
import re
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from autotune.grader import (
    Callback,
    CallbackRefusedError,
    CallbackUnreachableError,
    DeferredJob,
    GradedCompletion,
    GraderDefinitionError,
    grader,
)
from autotune.grader.conformance import check_grader
from autotune.protocol.grading import DeferredResponse, ScoreResponse
from autotune.protocol.ids import new_id
from autotune.protocol.signing import (
    sign_grader_request,
    verify_grader_callback,
    verify_grader_response,
)
from tests.sdk.grader.conftest import signed_event
from tests.support.clock import AT_ONCE

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "grader-owners.md"
RECEIPT = {"requestId": "req_1", "answeredAt": "2026-01-01T00:00:00Z"}
BEAT = {"requestId": "req_1", "answerBy": "2026-01-01T00:00:00Z"}
PROBLEM = {
    "type": "urn:autotune:problem:conflict",
    "title": "",
    "status": 409,
    "code": "conflict",
    "detail": "nobody waits",
    "requestId": "req_1",
}


class Autotune:
    """What listens at callback URLs; answers with the statuses that are scripted, then 200."""

    def __init__(self) -> None:
        self.url = ""
        self.script: list[int] = []
        self.received: list[tuple[str, bytes, dict[str, str]]] = []
        self.arrived = threading.Semaphore(0)

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        status = self.script.pop(0) if self.script else 200
        self.received.append((path, body, headers))
        self.arrived.release()
        good = BEAT if path.endswith("/heartbeat") else RECEIPT
        return status, json.dumps(good if status == 200 else PROBLEM).encode()


@contextmanager
def listening() -> Iterator[Autotune]:
    autotune = Autotune()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = autotune.take(self.path, body, dict(self.headers.items()))
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    autotune.url = f"http://127.0.0.1:{server.server_port}/callbacks/call_1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield autotune
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def autotune(monkeypatch: pytest.MonkeyPatch) -> Iterator[Autotune]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("autotune.grader.callback._BACK_OFF", AT_ONCE)
    with listening() as made:
        yield made


def echo(completion: GradedCompletion) -> float:
    if completion.prompt == "broken":
        raise ValueError("broken")
    return float(completion.metadata["value"])


def body_of(autotune: Autotune | None, **changes: Any) -> dict[str, Any]:
    completion = {"id": "cmp_1", "taskId": "task_1", "prompt": "p", "response": "r"}
    url = {"callbackUrl": autotune.url} if autotune else {}
    return {
        "requestId": "req_12345678",
        "completion": {**completion, "metadata": {"value": 0.25}},
        **url,
        **changes,
    }


def batch_of(autotune: Autotune) -> dict[str, Any]:
    body = body_of(autotune)
    one = body.pop("completion")
    return {**body, "completions": [one, {**one, "id": "cmp_2", "prompt": "broken"}]}


def post(url: str, path: str, body: dict[str, Any], secret: str) -> tuple[bytes, httpx.Response]:
    sent = json.dumps(body).encode()
    headers = sign_grader_request([secret], request_id=body["requestId"], body=sent)
    with httpx.Client(trust_env=False) as http:
        return sent, http.post(url + path, content=sent, headers=headers)


def verified_answer(
    autotune: Autotune, place: int, question: bytes, request_id: str, secret: str
) -> Any:
    _, body, headers = autotune.received[place]
    verify_grader_response(headers, body, [secret], request_id=request_id, request_body=question)
    return json.loads(body)


@pytest.mark.parametrize(("path", "make"), [("/score", body_of), ("/score/batch", batch_of)])
def test_a_served_grader_promises_and_answers_in_the_background(
    autotune: Autotune, serving: Any, secret: str, path: str, make: Callable[..., Any]
) -> None:
    slow = grader.deferred(name="slow", estimated_seconds=9, secrets=secret)(echo)
    body = make(autotune)
    with serving(slow.asgi) as url:
        question, promised = post(url, path, body, secret)
        assert promised.status_code == 202
        promise = DeferredResponse.model_validate_json(promised.content)
        assert (promise.request_id, promise.estimated_seconds) == (body["requestId"], 9)
        verify_grader_response(
            promised.headers,
            promised.content,
            [secret],
            request_id=body["requestId"],
            request_body=question,
        )
        assert autotune.arrived.acquire(timeout=30)
    answer = verified_answer(autotune, 0, question, body["requestId"], secret)
    assert (answer["requestId"], answer["graderVersion"]) == (body["requestId"], "1.0.0")
    if path == "/score":
        assert answer["score"]["value"] == 0.25
    else:
        first, second = answer["scores"]
        assert first["score"]["value"] == 0.25
        assert second["error"] == "grader_failed"


def test_without_a_callback_url_it_scores_at_once(serving: Any, secret: str) -> None:
    slow = grader.deferred(name="slow", secrets=secret)(echo)
    with serving(slow.asgi) as url:
        _, answer = post(url, "/score", body_of(None), secret)
    assert (answer.status_code, answer.json()["score"]["value"]) == (200, 0.25)


def test_a_lambda_function_without_a_queue_scores_at_once(autotune: Autotune, secret: str) -> None:
    slow = grader.deferred(name="slow", secrets=secret)(echo)
    body = json.dumps(body_of(autotune)).encode()
    answer = slow.lambda_handler(signed_event("POST", "/score", body, "req_12345678", secret))
    assert (answer["statusCode"], json.loads(answer["body"])["score"]["value"]) == (200, 0.25)
    assert autotune.received == []


@pytest.mark.parametrize("is_async", [False, True])
def test_a_lambda_function_enqueues_and_another_process_answers(
    autotune: Autotune, secret: str, is_async: bool
) -> None:
    queue: list[str] = []

    def enqueue(job: DeferredJob) -> None:
        queue.append(job.model_dump_json())

    async def enqueue_async(job: DeferredJob) -> None:
        enqueue(job)

    made = grader.deferred(
        name="slow", secrets=secret, enqueue=enqueue_async if is_async else enqueue
    )(echo)
    question = json.dumps(body_of(autotune)).encode()
    event = signed_event("POST", "/score", question, "req_12345678", secret)
    assert made.lambda_handler(event)["statusCode"] == 202

    elsewhere = grader.deferred(name="slow", secrets=secret)(echo)
    elsewhere.work(DeferredJob.model_validate_json(queue[0]))
    answer = verified_answer(autotune, 0, question, "req_12345678", secret)
    assert answer["score"]["value"] == 0.25


def test_the_examples_of_the_guide_run(
    autotune: Autotune, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_GRADER_SECRET", secret)
    sent: list[str] = []
    names: dict[str, Any] = {"queue": SimpleNamespace(send=sent.append)}
    served, queued, answered_by_hand = (
        textwrap.dedent(block)
        for block in re.findall(r"^ *```python\n(.*?)^ *```$", GUIDE.read_text(), re.M | re.S)
        if "deferred" in block or "Callback" in block
    )
    exec(compile(served, GUIDE.name, "exec"), names)
    exec(compile(queued, GUIDE.name, "exec"), names)
    question = json.dumps(body_of(autotune)).encode()
    event = signed_event("POST", "/score", question, "req_12345678", secret)
    assert names["lambda_handler"](event)["statusCode"] == 202
    names["work_off"](sent[0])
    assert verified_answer(autotune, 0, question, "req_12345678", secret)["error"]

    job = DeferredJob.model_validate_json(sent[0])
    kept = job.model_copy(update={"body": ""}).model_dump_json()
    names |= {"kept": kept, "answer": answer_to(job)}
    exec(compile(answered_by_hand, GUIDE.name, "exec"), names)
    assert verified_answer(autotune, 2, question, "req_12345678", secret)["abstained"]


def test_a_queue_that_takes_nothing_is_told_as_503(autotune: Autotune, secret: str) -> None:
    def full(_: DeferredJob) -> None:
        raise RuntimeError("full")

    made = grader.deferred(name="slow", secrets=secret, enqueue=full)(echo)
    body = json.dumps(body_of(autotune)).encode()
    answer = made.lambda_handler(signed_event("POST", "/score", body, "req_12345678", secret))
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (503, "unavailable")


def test_what_cannot_be_read_is_refused_and_not_deferred(autotune: Autotune, secret: str) -> None:
    made = grader.deferred(name="slow", secrets=secret, enqueue=lambda _: None)(echo)
    body = json.dumps(body_of(autotune, completion={})).encode()
    answer = made.lambda_handler(signed_event("POST", "/score", body, "req_12345678", secret))
    assert answer["statusCode"] == 422


def test_signs_of_life_are_given_while_it_works(autotune: Autotune, secret: str) -> None:
    done = threading.Event()

    def patient(completion: GradedCompletion) -> float:
        assert done.wait(30)
        return float(completion.metadata["value"])

    made = grader.deferred(name="slow", secrets=secret, heartbeat_seconds=0.01)(patient)
    job = job_of(autotune)
    working = threading.Thread(target=made.work, args=(job,))
    working.start()
    assert autotune.arrived.acquire(timeout=30)
    done.set()
    working.join(30)
    path, body, headers = autotune.received[0]
    assert path == "/callbacks/call_1/heartbeat"
    assert json.loads(body) == {"requestId": job.request_id}
    verify_grader_callback(
        headers, body, [secret], request_id=job.request_id, request_sha256=job.request_sha256
    )
    assert autotune.received[-1][0] == "/callbacks/call_1"


def job_of(autotune: Autotune) -> DeferredJob:
    body = json.dumps(body_of(autotune)).encode()
    return DeferredJob.of("score", body, request_id="req_12345678", callback_url=autotune.url)


def answer_to(job: DeferredJob) -> ScoreResponse:
    return ScoreResponse.model_validate(
        {"requestId": job.request_id, "graderVersion": "1", "abstained": True}
    )


def test_a_callback_is_sent_again_where_it_may_pass(autotune: Autotune, secret: str) -> None:
    autotune.script = [500, 503, 429]
    job = job_of(autotune)
    with Callback(job, secrets=secret) as callback:
        assert callback.answer(answer_to(job)).request_id == "req_1"
    assert len(autotune.received) == 4


@pytest.mark.parametrize("status", [404, 409, 413, 422])
def test_a_callback_that_is_refused_is_not_sent_again(
    autotune: Autotune, secret: str, status: int
) -> None:
    autotune.script = [status]
    job = job_of(autotune)
    with Callback(job, secrets=secret) as callback, pytest.raises(CallbackRefusedError) as refused:
        callback.answer(answer_to(job))
    assert (refused.value.status, refused.value.code) == (status, "conflict")
    assert len(autotune.received) == 1


def test_a_callback_that_never_arrives_says_so(autotune: Autotune, secret: str) -> None:
    autotune.script = [500] * 3
    job = job_of(autotune)
    with (
        Callback(job, secrets=secret, attempts=3) as callback,
        pytest.raises(CallbackUnreachableError),
    ):
        callback.heartbeat()
    assert len(autotune.received) == 3


@pytest.mark.parametrize("setting", ["estimated_seconds", "heartbeat_seconds"])
def test_times_are_above_zero(setting: str) -> None:
    with pytest.raises(GraderDefinitionError, match=setting):
        grader.deferred(name="slow", **{setting: 0})


def outcome(url: str, secret: str) -> tuple[str, str]:
    results = {one.name: one for one in check_grader(url, [secret], allow_nondeterministic=True)}
    assert {one.outcome for one in results.values()} <= {"passed", "skipped", "failed"}
    return results["deferral_kept"].outcome, results["deferral_kept"].seen


def sample(_: GradedCompletion) -> float:
    return 0.5


def test_the_check_waits_for_what_was_promised(
    serving: Any, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(grader.deferred(name="slow", secrets=secret)(sample).asgi) as url:
        kept = outcome(url, secret)
    assert kept == ("passed", "it answered 202, and later with a signed score")
    with serving(grader(name="quick", secrets=secret)(sample).asgi) as url:
        assert outcome(url, secret) == ("passed", "it did not defer its answer")


def test_the_check_finds_a_promise_that_is_broken(
    serving: Any, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("autotune.grader.conformance.deferrals._LONGEST_WAIT_SECONDS", 0.2)
    forgetful = grader.deferred(name="slow", secrets=secret, enqueue=lambda _: None)(sample)
    with serving(forgetful.asgi) as url:
        found, seen = outcome(url, secret)
    assert found == "failed"
    assert "no answer came" in seen


def test_ids_of_jobs_are_those_of_requests() -> None:
    request_id = new_id("req")
    job = DeferredJob.of("score", b"{}", request_id=request_id, callback_url="https://x.test")
    assert DeferredJob.model_validate_json(job.model_dump_json()) == job
