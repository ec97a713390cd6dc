"""``timeout`` and ``extra_headers`` of single calls, over a real connection, in both flavours."""

import hashlib
import inspect
import json

import httpx
import pytest

from autotune import (
    AsyncAutotuneClient,
    AutotuneClient,
    InvalidInputError,
    RequestTimeoutError,
    not_given,
)
from tests.sdk.client.recorder import TASK, Answer, serve_recorder, use_asyncio, use_blocking
from tests.support.clock import AT_ONCE

PENDING = {
    "verdict": {
        "completionId": "cmp_1",
        "taskId": "task_1",
        "graderId": "grd_1",
        "state": "pending",
        "submittedAt": "2026-11-22T00:00:00Z",
    }
}
SCORED = {
    "verdict": {
        **PENDING["verdict"],
        "state": "abstained",
        "decidedAt": "2026-11-22T00:00:01Z",
    }
}
SUBMITTED = {
    "batchId": "bat_1",
    "completionIds": ["cmp_1"],
    "createdAt": "2026-11-22T00:00:00Z",
    "estimatedScoreTimeMs": 1_000,
}

both_flavours = pytest.mark.parametrize("use", [use_blocking, use_asyncio])


def completed_export(recorder, content):
    return {
        "id": "exp_1",
        "state": "completed",
        "request": {"format": "jsonl", "shape": "scores", "filters": {}},
        "progress": {"scanned": 0, "recordsWritten": 0, "parts": 0, "bytes": 0},
        "asOf": "2026-11-22T00:00:00Z",
        "createdAt": "2026-11-22T00:00:00Z",
        "expiresAt": "2026-11-29T00:00:00Z",
        "downloads": {
            "manifest": {
                "name": "manifest.json",
                "url": f"{recorder.base_url}/manifest",
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
            },
            "parts": [],
        },
    }


@pytest.fixture
def recorder():
    with serve_recorder() as running:
        yield running


@pytest.fixture
def no_back_off(monkeypatch):
    monkeypatch.setattr("autotune.client.exchange.BACK_OFF", AT_ONCE)


@both_flavours
def test_extra_headers_go_with_a_call_and_with_its_retries(recorder, no_back_off, use):
    recorder.answers = [Answer(status=503), Answer(status=503), Answer()]
    use(
        recorder.base_url, lambda client: client.tasks.get("task_1", extra_headers={"X-Trace": "7"})
    )
    assert [headers["x-trace"] for headers in recorder.headers] == ["7", "7", "7"]
    assert len({headers["x-autotune-request-id"] for headers in recorder.headers}) == 3


@both_flavours
def test_extra_headers_go_with_every_page_of_a_list(recorder, use):
    recorder.answers = [
        Answer({"tasks": [TASK], "nextToken": "more"}),
        Answer({"tasks": [TASK], "nextToken": None}),
    ]
    tasks = use(recorder.base_url, lambda client: client.tasks.list(extra_headers={"X-Trace": "7"}))
    assert len(tasks) == 2
    assert [headers["x-trace"] for headers in recorder.headers] == ["7", "7"]


@both_flavours
def test_extra_headers_go_with_every_poll_of_a_wait(recorder, use):
    recorder.answers = [Answer(PENDING), Answer(SCORED)]
    verdict = use(
        recorder.base_url,
        lambda client: client.completions.wait_for_score(
            "cmp_1", timeout=10, extra_headers={"X-Trace": "7"}
        ),
    )
    assert verdict.state == "abstained"
    assert [headers["x-trace"] for headers in recorder.headers] == ["7", "7"]


@both_flavours
def test_extra_headers_go_with_every_batch_of_a_submission(recorder, use):
    recorder.answers = [Answer(SUBMITTED, status=202)]
    completion = {"task_id": TASK["id"], "model_id": "m", "prompt": "p", "response": "r"}
    use(
        recorder.base_url,
        lambda client: client.completions.submit_many(
            [completion] * 3, batch_size=1, extra_headers={"X-Trace": "7"}, timeout=5
        ),
    )
    assert [headers["x-trace"] for headers in recorder.headers] == ["7", "7", "7"]


def test_extra_headers_take_the_place_of_those_that_describe_the_caller(recorder):
    use_blocking(
        recorder.base_url,
        lambda client: client.tasks.get("task_1", extra_headers={"User-Agent": "trainer/1"}),
    )
    assert recorder.headers[0]["user-agent"] == "trainer/1"


@both_flavours
@pytest.mark.parametrize(
    "name",
    [
        "X-Autotune-Key",
        "x-autotune-signature",
        "X-AUTOTUNE-Timestamp",
        "X-Autotune-Request-Id",
        "x-autotune-anything",
        "Content-Type",
        "content-length",
        "Transfer-Encoding",
        "IDEMPOTENCY-KEY",
    ],
)
def test_headers_that_autotune_sets_are_refused_by_name(recorder, use, name):
    with pytest.raises(InvalidInputError, match=f"extra_headers.{name}: ") as caught:
        use(
            recorder.base_url,
            lambda client: client.tasks.get("task_1", extra_headers={name: "secret-value"}),
        )
    assert "secret-value" not in str(caught.value)
    assert recorder.paths == []


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"X-A": "1\r\nX-Autotune-Key: 2"}, "extra_headers.X-A: visible ASCII"),
        ({"X-A": " padded"}, "extra_headers.X-A: visible ASCII"),
        ({"X-A": "é"}, "extra_headers.X-A: visible ASCII"),
        ({"X-A": 7}, "extra_headers.X-A: visible ASCII"),
        ({"X A": "1"}, "extra_headers: names of headers, not 'X A'"),
        ({"": "1"}, "extra_headers: names of headers, not ''"),
        ({"X-A": "1" * 8_190}, "extra_headers: at most 8192 bytes in all"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(client, headers, told):
    with pytest.raises(InvalidInputError, match=told):
        client.tasks.get("task_1", extra_headers=headers)


def test_headers_up_to_the_limit_are_sent(recorder):
    value = "1" * (8_192 - len("X-A"))
    use_blocking(
        recorder.base_url, lambda client: client.tasks.get("task_1", extra_headers={"X-A": value})
    )
    assert recorder.headers[0]["x-a"] == value


@both_flavours
def test_a_timeout_holds_for_its_call_alone(recorder, use):
    recorder.answers = [Answer(after_seconds=0.6), Answer()]

    def hurry(client):
        return client.tasks.get("task_1", timeout=0.1)

    with pytest.raises(RequestTimeoutError):
        use(recorder.base_url, hurry, max_retries=0)
    recorder.answers = [Answer(after_seconds=0.3)]
    assert use(recorder.base_url, lambda client: client.tasks.get("task_1"), timeout=5).name == "n"


@both_flavours
def test_a_timeout_outlasts_the_clients_own(recorder, use):
    recorder.answers = [Answer(after_seconds=0.4)]
    task = use(
        recorder.base_url,
        lambda client: client.tasks.get("task_1", timeout=httpx.Timeout(5)),
        timeout=0.1,
        max_retries=0,
    )
    assert task.name == "n"


@both_flavours
def test_a_timeout_is_that_of_each_attempt(recorder, no_back_off, use):
    recorder.answers = [Answer(after_seconds=3), Answer(after_seconds=3), Answer()]
    task = use(recorder.base_url, lambda client: client.tasks.get("task_1", timeout=1))
    assert task.name == "n"
    assert len(recorder.paths) == 3


@both_flavours
def test_a_timeout_is_not_lengthened_by_a_long_poll(recorder, use):
    # One that the poll lengthened would have had the answer.
    recorder.answers = [Answer(PENDING, after_seconds=3)]
    with pytest.raises(RequestTimeoutError):
        use(
            recorder.base_url,
            lambda client: client.completions.verdict("cmp_1", wait=20, timeout=0.2),
            max_retries=0,
        )
    assert recorder.paths == ["/api/v1/completions/cmp_1/score?wait=20"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 86_401, None, "3", True])
def test_a_timeout_that_is_none_is_refused(client, timeout):
    with pytest.raises(InvalidInputError, match="timeout: seconds above 0 and up to 86400"):
        client.tasks.get("task_1", timeout=timeout)


@pytest.mark.parametrize("kind", [AutotuneClient, AsyncAutotuneClient])
def test_every_method_of_every_resource_takes_timeout_and_extra_headers(kind):
    client = kind(base_url="http://a.example", api_key="key_1.cafe")
    parts = [name for name in dir(client) if hasattr(getattr(client, name), "list_method")]
    assert len(parts) == 18
    resources = [getattr(client, name) for name in parts]
    methods = 0
    for resource in resources:
        for name in sorted(set(dir(resource)) - {"carry_out", "method", "list_method"}):
            if name.startswith("_"):
                continue
            member = getattr(resource, name)
            if hasattr(member, "list_method"):  # a resource within a resource
                resources.append(member)
                continue
            methods += 1
            parameters = inspect.signature(member).parameters
            assert parameters["extra_headers"].default is None, name
            # Those wait for something, and their time-out is that of the whole wait.
            own = (
                None
                if name.startswith(("wait", "results", "import_file", "request_ids"))
                else not_given
            )
            assert parameters["timeout"].default is own, name
    assert methods > 50


@both_flavours
def test_an_argument_that_a_method_does_not_have_is_refused_by_the_method(recorder, use):
    for argument in ("nmae", "idempotency_key", "hold_seconds"):
        with pytest.raises(TypeError, match=rf"get_task\(\) got an unexpected .*'{argument}'"):
            use(
                recorder.base_url,
                lambda client, argument=argument: client.tasks.get("task_1", **{argument: 1}),
            )
    assert recorder.paths == []


@both_flavours
def test_a_download_sends_extra_headers_to_autotune_alone(recorder, use, tmp_path):
    manifest = {"answer": 42}
    content = json.dumps(manifest).encode()
    export = completed_export(recorder, content)
    recorder.answers = [Answer({"export": export}), Answer(manifest)]
    there = use(
        recorder.base_url,
        lambda client: client.exports.download(
            "exp_1", tmp_path, timeout=5, extra_headers={"X-Trace": "7"}
        ),
    )
    assert there.manifest.read_bytes() == content
    asked, fetched = recorder.headers
    assert asked["x-trace"] == "7"
    assert "x-trace" not in fetched
    assert recorder.paths == ["/api/v1/exports/exp_1", "/manifest"]


@both_flavours
def test_a_downloads_timeout_holds_for_its_files_too(recorder, use, tmp_path):
    content = json.dumps({}).encode()
    export = completed_export(recorder, content)
    recorder.answers = [Answer({"export": export}), Answer({}, after_seconds=1)]
    with pytest.raises(RequestTimeoutError):
        use(
            recorder.base_url,
            lambda client: client.exports.download("exp_1", tmp_path, timeout=0.2),
            max_retries=0,
        )
