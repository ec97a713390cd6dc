"""OpenAI's batch API lets nobody in without a token, and says of bad input which field is wrong."""

import json
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from autotune_platform.runtime.clock import Clock
from tests.support.compatible import BOUNDARY, Compatible, form
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger, later

FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    return Compatible(ledger, imports)


def error(answer: Answer) -> tuple[int, str | None, str]:
    found = answer.json["error"]
    assert set(found) == {"message", "type", "param", "code"}
    return answer.status, found["param"], found["message"]


def test_who_has_no_token_learns_nothing(compatible: Compatible) -> None:
    made = compatible.new_token()
    genuine = made["secret"]
    platform = compatible.ledger.platform
    platform.call("DELETE", f"/api/v1/llm-tokens/{made['token']['id']}")
    soon = (Clock().now() + timedelta(minutes=1)).isoformat()
    expiring = compatible.new_token(expiresAt=soon)["secret"]
    flipped = compatible.token[:-1] + ("0" if compatible.token[-1] != "0" else "1")
    unknown = f"llt_{'0' * 26}-{'0' * 64}"
    answers = [
        compatible.ask("POST", "/batches", {"bad": 1}, token=token)
        for token in ("", "sk-123", genuine, flipped, unknown)
    ]
    with later(timedelta(minutes=2)):
        answers.append(compatible.ask("GET", "/files", token=expiring))
    assert {(one.status, one.text) for one in answers} == {(401, answers[0].text)}
    assert answers[0].json["error"]["code"] == "invalid_api_key"


def test_a_token_reads_only_or_writes_only_if_it_may(compatible: Compatible) -> None:
    content = jsonl(openai_line())
    reader = compatible.new_token(scopes=["read"])["secret"]
    writer = compatible.new_token(scopes=["write"])["secret"]
    assert compatible.upload(content, token=reader).status == 403
    file_id = compatible.upload(content, token=writer).json["id"]
    assert compatible.ask("GET", f"/files/{file_id}", token=writer).status == 403
    assert compatible.ask("GET", f"/files/{file_id}", token=reader).status == 200
    assert compatible.ask("DELETE", f"/files/{file_id}", token=reader).status == 403


def test_what_belongs_to_another_connection_is_not_there(compatible: Compatible) -> None:
    begun = compatible.begin(openai_line())
    other = compatible.new_token(connectionId=compatible.ledger.connect())["secret"]
    for method, path in [
        ("GET", f"/files/{begun['input_file_id']}"),
        ("GET", f"/files/{begun['input_file_id']}/content"),
        ("DELETE", f"/files/{begun['input_file_id']}"),
        ("GET", f"/batches/{begun['id']}"),
        ("POST", f"/batches/{begun['id']}/cancel"),
    ]:
        assert compatible.ask(method, path, token=other).status == 404, path
    assert compatible.ask("GET", "/files", token=other).json["data"] == []
    assert compatible.ask("GET", "/batches", token=other).json["data"] == []


def test_a_token_is_for_a_connection_of_the_own_organisation(compatible: Compatible) -> None:
    platform = compatible.ledger.platform
    body = {"name": "t", "connectionId": compatible.connection_id}
    foreign = platform.new_organization("other")
    refused = platform.call("POST", "/api/v1/llm-tokens", body, api_key=foreign)
    assert (refused.status, list(refused.fields)) == (422, ["connectionId"])
    past = {**body, "expiresAt": datetime(2020, 1, 1, tzinfo=UTC).isoformat()}
    assert list(platform.call("POST", "/api/v1/llm-tokens", past).fields) == ["expiresAt"]


def test_the_secret_is_stored_and_logged_nowhere(
    compatible: Compatible, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    begun = compatible.begin(openai_line())
    compatible.run()
    compatible.batch(begun["id"])
    secret = compatible.token.partition("-")[2]
    for table in boto3.client("dynamodb").list_tables()["TableNames"]:
        assert secret not in json.dumps(
            boto3.client("dynamodb").scan(TableName=table)["Items"], default=str
        )
    listed = compatible.ledger.platform.call("GET", "/api/v1/llm-tokens").text
    shown = capsys.readouterr()
    assert secret not in listed + shown.out + shown.err + caplog.text
    assert json.loads(listed)["tokens"][0]["endsWith"] == secret[-4:]


@pytest.mark.parametrize(
    ("content", "status", "says"),
    [
        (b"", 422, "it is empty"),
        (b"{}\n\n{}\n", 422, "line 2 is empty"),
        (b"{}\n" * 5_001, 413, "5001 lines"),
        (b"x" * 4_000_001, 413, "/llm-imports"),
    ],
    ids=["empty", "empty line", "lines", "bytes"],
)
def test_a_file_that_cannot_be_taken(
    compatible: Compatible, content: bytes, status: int, says: str
) -> None:
    refused = error(compatible.upload(content))
    assert refused[0] == status
    assert says in refused[2]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (form(b"{}", purpose="fine-tune"), FORM, 422),
        (form(b"{}", anchor="created_at", seconds=60), FORM, 422),
        (form(b"{}", anchor="last_used_at", seconds=3_600), FORM, 422),
        (form(b"{}", anchor="created_at"), FORM, 422),
        (form(b"{}", other="x"), FORM, 422),
        (form(b"{}")[:-20], FORM, 400),
        (b"{}", {}, 415),
        (b"--b0undary\r\n" * 50, FORM, 400),
        (b"--b0undary\r\nno header\r\n\r\nx\r\n--b0undary--", FORM, 400),
        (b"\xff", FORM, 400),
        (form(b"{}"), {"content-type": "multipart/form-data; boundary*=idna''b0undary"}, 415),
        (form(b"{}").replace(b"filename=", b"filename*=idna''%ff; was="), FORM, 400),
    ],
    ids=[
        "purpose",
        "seconds",
        "anchor",
        "no seconds",
        "unknown",
        "cut",
        "json",
        "parts",
        "headers",
        "bytes",
        "boundary",
        "filename",
    ],
)
def test_a_form_that_cannot_be_read(
    compatible: Compatible, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert error(compatible.ask("POST", "/files", body, headers=headers))[0] == status


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"endpoint": "/v1/embeddings"}, "endpoint"),
        ({"completion_window": "1h"}, "completion_window"),
        ({"input_file_id": "file-abc"}, "input_file_id"),
        ({"metadata": {"a": "b" * 513}}, "metadata.a"),
        ({"output_expires_after": {"seconds": 3600}}, "output_expires_after.anchor"),
        (
            {"output_expires_after": {"anchor": "created_at", "seconds": 60}},
            "output_expires_after.seconds",
        ),
        ({"window": "24h"}, "window"),
    ],
    ids=["endpoint", "window", "file", "metadata", "anchor", "seconds", "unknown"],
)
def test_a_batch_that_cannot_be_made(
    compatible: Compatible, change: dict[str, object], field: str
) -> None:
    file_id = compatible.upload(jsonl(openai_line())).json["id"]
    status, named, _ = error(compatible.create(**{"file_id": file_id, **change}))
    assert (status, named) == (422, field)


def test_a_batch_that_has_ended_is_not_cancelled(compatible: Compatible) -> None:
    begun = compatible.begin(openai_line())
    compatible.run()
    assert compatible.batch(begun["id"])["status"] == "completed"
    refused = error(compatible.ask("POST", f"/batches/{begun['id']}/cancel"))
    assert refused[0] == 400
    assert "completed" in refused[2]


@pytest.mark.parametrize(
    ("media_type", "head"),
    [
        (f"multipart/form-data; boundary*{'9' * 5_000}=b", ""),
        ("multipart/form-data; boundary*=\x00'x'b", ""),
        (FORM["content-type"], f"name*{'9' * 5_000}=x"),
        (FORM["content-type"], f"name=file; filename*{'9' * 5_000}=x"),
        (FORM["content-type"], "name=file; filename*=a\x00b'x'abc"),
    ],
)
def test_a_form_whose_headers_cannot_be_read_is_refused(
    compatible: Compatible, media_type: str, head: str
) -> None:
    part = f"Content-Disposition: form-data; {head}\r\n\r\nhi"
    body = f"--{BOUNDARY}\r\n{part}\r\n--{BOUNDARY}--\r\n".encode()
    answer = compatible.ask("POST", "/files", body, headers={"content-type": media_type})
    assert answer.status in {400, 415}, answer.text
