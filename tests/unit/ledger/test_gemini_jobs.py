"""What Gemini tells of batch jobs, files and rows, whatever it is."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import (
    Body,
    Ended,
    Job,
    Line,
    NotCreated,
    Results,
    Running,
    Unclear,
)
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.providers.gemini import GeminiFormat
from tests.unit.ledger.asking import connection

MODEL = "gemini-2.5-flash"
KEY = "fake-key"
JOBS = GeminiJobs(GeminiFormat())


def code_of(found: Any) -> str:
    refusal = found.refusal if isinstance(found, NotCreated) else found
    assert isinstance(refusal, Refusal), found
    return refusal.code


class Told(Exchanges):
    """Exchanges in which a provider says what a test wants."""

    def __init__(self, *told: tuple[int, dict[str, str], Any]) -> None:
        self.told = list(told)
        self.asked: list[str] = []

    def exchange(self, method: str, url: str, *_: Any, **__: Any) -> tuple[int, Any, bytes]:
        self.asked.append(f"{method} {url}")
        status, headers, body = self.told.pop(0)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return status, headers, content


def telling(*told: tuple[int, dict[str, str], Any], **changes: Any) -> tuple[Session, Told]:
    exchanges = Told(*told)
    return Session(connection("gemini", **changes), KEY, exchanges), exchanges


JOB = Job(
    "lbt_1", "nonce1", MODEL, 2, datetime(2026, 11, 22, tzinfo=UTC), "files/in", "batches/one"
)
BODY = Body(3, lambda: iter([b"{}\n"]))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://evil.example.com/upload?upload_id=1",
        "http://generativelanguage.googleapis.com/upload?upload_id=1",
        "https://generativelanguage.googleapis.com:8443/upload",
        "https://generativelanguage.googleapis.com@evil.example.com/upload",
        "https://user@generativelanguage.googleapis.com/upload",
        "https://generativelanguage.googleapis.com.evil.example.com/upload",
        "https://[generativelanguage.googleapis.com/upload",
        "https://generativelanguage.googleapis.com:port/upload",
        "//generativelanguage.googleapis.com/upload",
        "https://generativelanguage.googleapis.com/up load",
    ],
)
def test_an_upload_goes_to_no_other_host(url: str) -> None:
    session, exchanges = telling((200, {"x-goog-upload-url": url}, {}))
    found = JOBS.upload(session, JOB, BODY)
    assert code_of(found) == "provider_error"
    assert len(exchanges.asked) == 1


@pytest.mark.parametrize(
    "name", [None, 5, "", "files/", "files/../x", "in", "batches/a", "files/a?b"]
)
def test_an_upload_without_a_name_that_can_be_used_is_none(name: Any) -> None:
    url = "https://generativelanguage.googleapis.com:443/upload?upload_id=1"
    session, _ = telling((200, {"x-goog-upload-url": url}, {}), (200, {}, {"file": {"name": name}}))
    assert code_of(JOBS.upload(session, JOB, BODY)) == "provider_error"


@pytest.mark.parametrize("state", ["PROCESSING", "FAILED", 5, [], {}])
def test_a_file_that_is_not_ready_is_waited_for(state: Any) -> None:
    session, exchanges = telling((200, {}, {"name": "files/in", "state": state}))
    assert code_of(JOBS.create(session, JOB, BODY)) == "rate_limited"
    assert len(exchanges.asked) == 1


@pytest.mark.parametrize("name", [None, 5, "one", "files/a", "batches/../x", "batches/a:cancel"])
def test_a_creation_that_names_no_job_is_unclear(name: Any) -> None:
    session, _ = telling((200, {}, {"state": "ACTIVE"}), (200, {}, {"name": name}))
    assert isinstance(JOBS.create(session, JOB, BODY), Unclear)


def test_a_key_without_rights_stops_the_connection_and_not_the_row() -> None:
    session, _ = telling(
        (200, {}, {"state": "ACTIVE"}),
        (403, {}, {"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}}),
    )
    assert code_of(JOBS.create(session, JOB, BODY)) == "account"


def test_a_list_without_end_is_not_read_for_ever() -> None:
    page = (200, {}, {"operations": [], "nextPageToken": "again"})
    session, exchanges = telling(*[page] * 1000)
    assert code_of(JOBS.search(session, JOB)) == "provider_error"
    assert len(exchanges.asked) == 100


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b'{"operations":', b"null"])
def test_what_is_no_list_proves_nothing(body: bytes) -> None:
    session, _ = telling((200, {}, body))
    assert code_of(JOBS.search(session, JOB)) == "provider_error"


@pytest.mark.parametrize(
    "operations",
    [None, {}, 5, [5, None, [], {"name": 5, "metadata": {"displayName": "nonce1"}}]],
)
def test_a_list_of_strange_things_names_no_job(operations: Any) -> None:
    session, _ = telling((200, {}, {"operations": operations, "nextPageToken": ""}))
    assert JOBS.search(session, JOB) == []


@pytest.mark.parametrize(
    "stats",
    [
        5,
        {"requestCount": "10"},
        {"requestCount": "10", "successfulRequestCount": "11"},
        {"requestCount": "-1", "successfulRequestCount": "-1"},
        {"requestCount": "1" * 5000, "successfulRequestCount": "1" * 5000},
        {"requestCount": "\u0661", "successfulRequestCount": "\u0661"},
        {"requestCount": True, "successfulRequestCount": True},
        {"requestCount": [], "successfulRequestCount": {}},
    ],
)
def test_counts_that_do_not_add_up_are_none(stats: Any) -> None:
    state = {"state": "BATCH_STATE_SUCCEEDED", "batchStats": stats}
    session, _ = telling((200, {}, {"metadata": state}))
    assert JOBS.look(session, JOB) == Ended("completed", results=[])


@pytest.mark.parametrize(
    ("status", "word", "expected"),
    [
        (400, "FAILED_PRECONDITION", None),
        (409, "ABORTED", None),
        (400, "INVALID_ARGUMENT", "rejected"),
        (403, "PERMISSION_DENIED", "account"),
    ],
)
def test_a_job_that_has_ended_cannot_be_canceled(
    status: int, word: str, expected: str | None
) -> None:
    error = {"error": {"code": status, "message": "No.", "status": word}}
    session, _ = telling((status, {}, error))
    refusal = JOBS.cancel(session, JOB)
    assert (refusal and refusal.code) == expected


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, "rejected"),
        ("words", "rejected"),
        ({}, "rejected"),
        ({"code": 3, "message": "bad"}, "rejected"),
        ({"code": 13, "message": "internal"}, "rejected"),
        ({"code": 8, "message": "enqueued tokens"}, "rate_limited"),
        ({"code": 7, "message": "denied"}, "account"),
        ({"code": 9, "message": "billing"}, "account"),
        ({"code": True, "message": 5}, "rejected"),
        ({"code": 10**30}, "rejected"),
    ],
)
def test_why_a_job_failed(error: Any, code: str) -> None:
    state = {"state": "BATCH_STATE_FAILED"}
    session, _ = telling((200, {}, {"done": True, "metadata": state, "error": error}))
    ended = JOBS.look(session, JOB)
    assert isinstance(ended, Ended)
    assert ended.how == "failed"
    assert ended.refusal is not None
    assert (ended.refusal.code, ended.refusal.may_be_paid) == (code, False)


def test_a_failed_job_with_results_ran_rows() -> None:
    metadata = {"state": "JOB_STATE_FAILED", "output": {"responsesFile": "files/batch-1"}}
    session, _ = telling((200, {}, {"metadata": metadata, "error": {"code": 13}}))
    assert JOBS.look(session, JOB) == Ended("completed", results=[Results("files/batch-1")])


@pytest.mark.parametrize(
    "document",
    [
        {"response": {"responsesFile": "files/batch-1"}},
        {"response": {"responsesFile": "files/batch-1"}, "output": {"responsesFile": "x"}},
        {"output": {"responsesFile": "files/batch-1"}},
    ],
)
def test_results_are_named_in_one_place_or_in_two(document: Any) -> None:
    metadata = {"state": "BATCH_STATE_SUCCEEDED", "output": document.get("output")}
    session, _ = telling((200, {}, {"metadata": metadata, "response": document.get("response")}))
    assert JOBS.look(session, JOB) == Ended("completed", results=[Results("files/batch-1")])


@pytest.mark.parametrize("place", ["files/../batches", "https://evil.example.com", 5, "batches/x"])
def test_results_in_places_that_cannot_be_are_none(place: Any) -> None:
    metadata = {"state": "BATCH_STATE_SUCCEEDED", "output": {"responsesFile": place}}
    document = {"metadata": metadata, "response": {"responsesFile": place}}
    session, _ = telling((200, {}, document))
    assert JOBS.look(session, JOB) == Ended("completed", results=[])


@pytest.mark.parametrize(
    "state", ["BATCH_STATE_PENDING", "BATCH_STATE_NEW", "", "SUCCEEDED_STATE_"]
)
def test_a_state_that_is_no_end_is_none(state: str) -> None:
    session, _ = telling((200, {}, {"metadata": {"state": state}}))
    assert JOBS.look(session, JOB) == Running()


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"metadata": {"state": 5}}'])
def test_an_answer_without_a_state_is_none(body: bytes) -> None:
    session, _ = telling((200, {}, body))
    assert code_of(JOBS.look(session, JOB)) == "provider_error"


def test_results_whose_names_google_does_not_delete_are_left_to_go() -> None:
    too_long = {"error": {"code": 400, "message": "too long", "status": "INVALID_ARGUMENT"}}
    session, exchanges = telling((200, {}, {}), (400, {}, too_long), (200, {}, {}))
    assert JOBS.clean(session, JOB, [Results("files/batch-1")]) is None
    assert [one.split("/v1beta/")[1] for one in exchanges.asked] == [
        "files/in",
        "files/batch-1",
        "batches/one",
    ]


WHOLE = {
    "key": "row1",
    "response": {
        "candidates": [{"content": {"parts": [{"text": "VERDICT: yes"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
        "modelVersion": MODEL,
    },
}
WRONG = {"key": "row1", "error": {"code": 13, "message": "internal"}}


def test_an_error_of_a_line_in_the_codes_of_http() -> None:
    error = {"code": 429, "message": "later", "details": [{"retryDelay": "26s"}]}
    line = JOBS.line(json.dumps({"key": "row1", "error": error}).encode(), KEY)
    assert line == Line("row1", Refusal("rate_limited", "later", retry_after_seconds=26))


def test_an_echo_of_the_key_is_in_no_line() -> None:
    key = "AIza-0123456789abcdef"
    for document in (
        {"key": "row1", "error": {"code": 3, "message": f"{key} is bad"}},
        json.loads(json.dumps(WHOLE).replace("VERDICT", key).replace(MODEL, key)),
    ):
        line = JOBS.line(json.dumps(document).encode(), key)
        assert line is not None
        assert key not in repr(line)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"key": null, "response": {}}',
        b'{"key": 5, "response": {}}',
        b'{"response": {"candidates": []}}',
        b'["key"]',
        b'"key"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"key":' * 600,
        b'{"key": "row1", "response": {"a": ' + b"9" * 5_000 + b"}}",
        b'{"key": "row1", "response": [' + b"1," * 300_000 + b"1]}",
    ],
)
def test_what_is_nobodys_line(line: bytes) -> None:
    assert JOBS.line(line, KEY) is None


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"response": None},
        {"response": {}},
        {"response": []},
        {"response": "text"},
        {"error": None},
        {"error": {}},
        {"error": "text"},
        {"response": {"candidates": [5]}},
        {"response": {"candidates": {"0": {}}}},
    ],
)
def test_a_line_that_holds_nothing_is_malformed(rest: dict[str, Any]) -> None:
    line = JOBS.line(json.dumps({"key": "row1", **rest}).encode(), KEY)
    assert line is not None
    assert isinstance(line.outcome, Refusal)
    assert (line.custom_id, line.outcome.code) == ("row1", "result_malformed")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
MEMBERS = ("candidates", "content", "parts", "text", "usageMetadata", "promptTokenCount", "code")
MEMBERS += ("finishReason", "promptFeedback", "blockReason", "message", "status", "details")
SHAPED = st.recursive(
    JSON,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6)
    ),
    max_leaves=12,
)


def read(line: bytes) -> None:
    found = JOBS.line(line, KEY)
    if found is not None:
        assert isinstance(found.custom_id, str)
        assert isinstance(found.outcome, Answer | Refusal)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(line: bytes) -> None:
    read(line)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([WHOLE, WRONG]), st.data())
def test_a_line_that_is_cut_or_changed_is_read(document: Any, data: st.DataObject) -> None:
    line = json.dumps(document).encode()
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    read(line[:start] + data.draw(st.binary(max_size=8)) + line[end:])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(["response", "error", "metadata"]), SHAPED), JSON)
def test_members_of_any_type_are_read(members: dict[str, Any], key: Any) -> None:
    read(json.dumps({"key": "row1", **members}).encode())
    read(json.dumps({"key": key, **members}).encode())


@settings(max_examples=150, deadline=None)
@given(SHAPED, st.sampled_from(["SUCCEEDED", "FAILED", "EXPIRED", "CANCELLED", "RUNNING"]))
def test_jobs_of_any_shape_are_looked_at(shape: Any, state: str) -> None:
    for document in (
        shape,
        {"metadata": shape},
        {"metadata": {"state": f"BATCH_STATE_{state}", "batchStats": shape}, "error": shape},
        {"metadata": {"state": f"BATCH_STATE_{state}", "output": shape}, "response": shape},
    ):
        session, _ = telling((200, {}, document))
        assert isinstance(JOBS.look(session, JOB), Ended | Running | Refusal)


def test_a_line_of_ten_megabytes_is_read() -> None:
    document = json.loads(json.dumps(WHOLE).replace("VERDICT", "x" * 10_000_000))
    line = JOBS.line(json.dumps(document).encode(), KEY)
    assert line is not None
    assert isinstance(line.outcome, Answer)
    assert len(line.outcome.text) > 10_000_000
