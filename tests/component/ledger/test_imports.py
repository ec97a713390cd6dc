"""Imported files: each right line is one request, each wrong one is reported, whatever dies."""

import json
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.imports.repository import ImportRepository
from tests.component.access.test_limits import limit
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import MODEL, Ledger, later, row


def objects() -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket="exports").get("Contents", [])
    return [one["Key"].rsplit("/", 1)[1] for one in found]


def test_each_line_becomes_a_request_with_its_own_name(ledger: Ledger, imports: Imports) -> None:
    asked: list[str] = []
    ledger.fake.world.answers.answerer = lambda ask: asked.append(ask.prompt) or "ok"
    lines = [
        openai_line("first", "plain"),
        openai_line("second/ü", [{"type": "text", "text": "{{no}} variable"}], temperature=0.5),
        {
            **openai_line("third"),
            "body": {
                "model": MODEL,
                "messages": [
                    {"role": "system", "content": "Be {{short}}."},
                    {"role": "user", "content": "q"},
                ],
                "max_completion_tokens": 7,
                "stop": "END",
                "n": 1,
                "top_k": 3,
            },
        },
    ]
    content = b"\xef\xbb\xbf" + jsonl(*lines[:2]) + b"\r\n\n" + jsonl(lines[2]).rstrip()
    import_id = imports.start(ledger.connect(), content, defaults={"labels": {"run": "7"}})
    found = imports.run(import_id)
    assert (found["state"], found["errors"]) == ("completed", [])
    assert found["counts"] == {"lines": 5, "bytes": len(content), "enqueued": 3, "rejected": 0}
    rows = imports.rows(import_id)
    assert {one["customId"] for one in rows} == {"first", "second/ü", "third"}
    assert all(one["labels"] == {"run": "7"} for one in rows)
    (third,) = [one["id"] for one in rows if one["customId"] == "third"]
    params = ledger.read(third)["params"]
    given = {name: value for name, value in params.items() if value is not None}
    assert given == {"maxTokens": 7, "stop": ["END"], "extra": {"top_k": 3}}
    ledger.run()
    assert {text.strip() for text in asked} == {"Be {{short}}.\nq", "plain", "{{no}} variable"}
    assert objects() == []  # the file goes once it is read


def test_anthropics_lines_and_ours_are_taken(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect()
    anthropic = {
        "custom_id": "x",
        "params": {
            "model": MODEL,
            "max_tokens": 9,
            "system": [{"type": "text", "text": "S"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "U"}]}],
            "stop_sequences": ["a"],
        },
    }
    content = jsonl(anthropic)
    found = imports.run(imports.start(connection, content, format="anthropic"))
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 1)
    (made,) = imports.rows(found["id"])
    assert made["customId"] == "x"
    assert ledger.read(made["id"])["input"] == {"system": "S", "user": "U", "variables": {}}
    ours = row(connection, customId="y", priority="high", labels={"own": "1"})
    short: dict[str, Any] = {"input": {"user": "{{a}}", "variables": {"a": "b"}}}
    short["params"] = {"maxTokens": 5}
    found = imports.run(
        imports.start(
            connection,
            jsonl(ours, short),
            format="autotune",
            purpose="critic",
            defaults={"model": MODEL, "labels": {"all": "1"}},
        )
    )
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 2), found
    made = {one.get("customId"): one for one in imports.rows(found["id"])}
    assert (made["y"]["purpose"], made["y"]["labels"]) == ("scoring", {"own": "1"})
    assert (made[None]["purpose"], made[None]["labels"]) == ("critic", {"all": "1"})


WRONG: list[tuple[Any, str | None]] = [
    (b"{not json", None),
    (b"[1]", None),
    (b'{"custom_id": "\xff"}', None),
    ({**openai_line("id"), "method": "GET"}, "method"),
    ({**openai_line("id"), "url": "/v1/embeddings"}, "url"),
    ({**openai_line("id"), "extra": 1}, "extra"),
    ({**openai_line("i" * 513)}, "custom_id"),
    ({**openai_line("id"), "body": 1}, "body"),
    (openai_line("id", max_tokens=None), "body.max_tokens"),
    (openai_line("id", max_tokens=0), "body.max_tokens"),
    (openai_line("id", max_tokens=None, max_completion_tokens=0), "body.max_completion_tokens"),
    (openai_line("id", stream=True), "body.stream"),
    (openai_line("id", n=2), "body.n"),
    (openai_line("id", tools=[]), "body"),
    (openai_line("id", service_tier="flex"), "body.service_tier"),
    (openai_line("id", model="unknown-model"), "body.model"),
    (openai_line("id", temperature=9), "body.temperature"),
    (openai_line("id", messages=[]), "body.messages"),
    (openai_line("id", ""), "body.messages"),
    (openai_line("id", [{"type": "image_url"}]), "body.messages[0].content[0]"),
    (
        openai_line(
            "id",
            messages=[
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "b"},
                {"role": "user", "content": "c"},
            ],
        ),
        "body.messages[1]",
    ),
]


def test_wrong_lines_are_left_out_and_each_is_reported(ledger: Ledger, imports: Imports) -> None:
    lines = [line if isinstance(line, bytes) else json.dumps(line).encode() for line, _ in WRONG]
    right = json.dumps(openai_line("right")).encode()
    content = b"\n".join([right, *lines, right])
    found = imports.run(imports.start(ledger.connect(), content))
    assert found["state"] == "completed"
    assert (found["counts"]["enqueued"], found["counts"]["rejected"]) == (2, len(WRONG))
    report = imports.report(found)
    assert [one["line"] for one in report] == list(range(2, len(WRONG) + 2))
    assert [one.get("field") for one in report] == [field for _, field in WRONG]
    listed = [{name: one[name] for name in one if one[name] is not None} for one in found["errors"]]
    assert listed == report[:20]
    assert "several turns" in report[-1]["message"]
    assert report[3]["customId"] == "id"


def test_one_wrong_line_keeps_all_out_where_it_shall(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect()
    lines = [openai_line(str(number)) for number in range(20)]
    content = jsonl(*lines, {"custom_id": "broken"})
    found = imports.run(imports.start(connection, content, onError="rejectAll"))
    assert (found["state"], found["errorCode"]) == ("failed", "lines_rejected")
    assert (found["counts"]["enqueued"], found["counts"]["rejected"]) == (0, 1)
    assert [one["line"] for one in imports.report(found)] == [21]
    assert imports.rows(found["id"]) == []
    found = imports.run(imports.start(connection, jsonl(*lines), onError="rejectAll"))
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 20)
    assert len(imports.rows(found["id"])) == 20


@pytest.mark.parametrize("moment", ["before", "within", "behind"])
def test_a_killed_step_is_repeated_and_enqueues_nothing_twice(
    ledger: Ledger, imports: Imports, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    lines = [openai_line(str(number), f"q{number}") for number in range(1_200)]
    lines[700] = {"custom_id": "broken"}
    import_id = imports.start(ledger.connect(maxRows=2_000), jsonl(*lines))
    calls = 0

    def killed(original: Any, *, at: int) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                raise SystemExit
            return original(*args, **named)

        return call

    target, name, at = {
        "before": (EnqueuingService, "enqueue_planned", 2),
        "within": (EnqueuingService, "_open_queues", 2),
        # The note that the step began, and that of the first chunk, come before.
        "behind": (ImportRepository, "advance", 3),
    }[moment]
    with monkeypatch.context() as patched:
        patched.setattr(target, name, killed(getattr(target, name), at=at))
        with pytest.raises(SystemExit):
            imports.step(import_id)
    assert imports.read(import_id)["counts"]["enqueued"] == 500
    with later(timedelta(minutes=2)):
        assert imports.step(import_id)["done"]
    found = imports.read(import_id)
    assert (found["counts"]["enqueued"], found["counts"]["rejected"]) == (1_199, 1)
    assert [one["line"] for one in imports.report(found)] == [701]
    rows = imports.rows(import_id)
    assert len({one["customId"] for one in rows}) == len(rows) == 1_199
    open_rows = (
        boto3.resource("dynamodb")
        .Table("ledger")
        .get_item(Key={"pk": f"open#{ledger.platform.me()['organizationId']}", "sk": "rows"})[
            "Item"
        ]
    )
    assert open_rows["rows"] == 1_199


def test_an_import_waits_for_room_and_goes_on(ledger: Ledger, imports: Imports) -> None:
    limit(ledger.platform, openLlmRows=30)
    connection = ledger.connect(maxRows=100)
    import_id = imports.start(connection, jsonl(*(openai_line(str(n)) for n in range(70))))
    left = imports.step(import_id)
    assert (left["done"], left["wait_seconds"]) == (False, 120)
    found = imports.read(import_id)
    assert (found["state"], found["counts"]["enqueued"]) == ("waiting", 30)
    assert "too many" in found["waitingBecause"]
    ledger.run_jobs(hours=1)
    assert not imports.step(import_id)["done"]
    ledger.run_jobs(hours=1)
    assert imports.step(import_id)["done"]
    found = imports.read(import_id)
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 70)
    assert "waitingBecause" not in found or found["waitingBecause"] is None


def test_an_import_without_room_for_days_says_so(ledger: Ledger, imports: Imports) -> None:
    limit(ledger.platform, openLlmRows=1)
    content = jsonl(*(openai_line(str(n)) for n in range(2)))
    import_id = imports.start(ledger.connect(minRows=10), content)
    assert not imports.step(import_id)["done"]
    with later(timedelta(days=5)):
        assert imports.step(import_id)["done"]
    found = imports.read(import_id)
    assert (found["state"], found["errorCode"]) == ("failed", "too_many_open_requests")


def test_imports_are_listed_youngest_first_by_state_and_without_links(
    ledger: Ledger, imports: Imports
) -> None:
    connection = ledger.connect()
    done = imports.run(imports.start(connection, jsonl(openai_line(), {"wrong": 1})))["id"]
    with later(timedelta(minutes=1)):
        waiting = imports.create(connection, b"{}").json["import"]["id"]

    def listed(**query: str) -> dict[str, Any]:
        answer = ledger.platform.call("GET", "/api/v1/llm-imports", query=query)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    page = listed()
    assert [one["id"] for one in page["imports"]] == [waiting, done]
    assert page["imports"][1]["counts"] == imports.read(done)["counts"]
    assert page["imports"][1]["errors"][0]["line"] == 2
    # A list is read by more people than upload and fetch files.
    assert not any(one.get("upload") or one.get("report") for one in page["imports"])
    assert imports.read(waiting)["upload"]
    assert imports.read(done)["report"]
    first = listed(limit="1")
    second = listed(limit="1", nextToken=first["nextToken"])
    assert [one["id"] for one in first["imports"] + second["imports"]] == [waiting, done]
    # A page that ends with the last one may not know it, as a table does not.
    third = listed(limit="1", nextToken=second["nextToken"]) if second["nextToken"] else {}
    assert not third.get("imports")
    assert not third.get("nextToken")
    assert [one["id"] for one in listed(state="completed")["imports"]] == [done]
    assert listed(state="failed")["imports"] == []
    for wrong in ({"state": "done"}, {"nextToken": "x"}):
        assert ledger.platform.call("GET", "/api/v1/llm-imports", query=wrong).status == 422
    # The table removes what has expired only some days later.
    boto3.resource("dynamodb").Table("ledger").update_item(
        Key={"pk": done, "sk": "state"},
        UpdateExpression="SET created_at = :long_ago",
        ExpressionAttributeValues={":long_ago": "2026-01-01T00:00:00Z"},
    )
    assert [one["id"] for one in listed()["imports"]] == [waiting]


def test_a_lost_execution_is_redriven_and_its_later_steps_do_nothing(
    ledger: Ledger, imports: Imports
) -> None:
    import_id = imports.start(ledger.connect(), jsonl(openai_line()))
    with later(timedelta(minutes=10)):
        ledger.sweep()
    assert imports.step(import_id, redrive=0)["done"]
    assert imports.read(import_id)["state"] == "running"
    assert imports.step(import_id, redrive=1)["done"]
    assert imports.read(import_id)["counts"]["enqueued"] == 1


def test_a_file_that_is_not_there_or_another_is_said_to_be_so(
    ledger: Ledger, imports: Imports
) -> None:
    connection = ledger.connect()
    content = jsonl(openai_line())
    made = imports.create(connection, content).json["import"]
    assert made["state"] == "awaiting_upload"
    assert "content-length%3b" in made["upload"]["url"].lower(), "the length is signed"
    assert made["upload"]["headers"]["Content-Length"] == str(len(content))
    assert imports.call("POST", made["id"], "/start").status == 409
    imports.upload(made, content + b"\n")
    refused = imports.call("POST", made["id"], "/start")
    assert refused.status == 409
    assert f"{len(content)}" in refused.text
    imports.upload(made, content)
    assert imports.call("POST", made["id"], "/start").status == 202
    imports.upload(made, content.replace(b'"a"', b'"b"'))
    found = imports.run(made["id"])
    assert (found["state"], found["errorCode"]) == ("failed", "file_changed")
    other = imports.start(connection, content)
    boto3.client("s3").delete_object(
        Bucket="exports",
        Key=f"exports/{ledger.platform.me()['organizationId']}/{other}/upload.jsonl",
    )
    assert imports.run(other)["errorCode"] == "file_missing"


def test_a_revoked_connection_ends_an_import(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect()
    import_id = imports.start(connection, jsonl(openai_line()))
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    assert imports.run(import_id)["errorCode"] == "connection_revoked"
    refused = imports.create(connection, b"{}")
    assert refused.status == 422
    assert refused.fields == {"connectionId": "a connection that is not revoked"}


def test_a_deleted_import_stops_and_leaves_no_file(ledger: Ledger, imports: Imports) -> None:
    import_id = imports.start(ledger.connect(), jsonl(openai_line()))
    assert imports.call("DELETE", import_id).status == 204
    assert objects() == []
    assert imports.step(import_id)["done"]
    assert imports.read(import_id)["state"] == "canceled"
    assert imports.rows(import_id) == []


def test_as_many_imports_are_under_way_as_may_be(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect()
    content = jsonl(openai_line())
    begun = [imports.start(connection, content) for _ in range(5)]
    made = imports.create(connection, content).json["import"]
    imports.upload(made, content)
    refused = imports.call("POST", made["id"], "/start")
    assert (refused.status, refused.json["code"]) == (429, "too_many_imports")
    assert refused.json["limit"]["maximum"] == 5
    imports.run(begun[0])
    assert imports.call("POST", made["id"], "/start").status == 202


def test_the_same_key_makes_one_import(ledger: Ledger, imports: Imports) -> None:
    connection = ledger.connect()
    first = imports.create(connection, b"{}", key="k").json["import"]
    again = imports.create(connection, b"{}", key="k")
    assert again.json["import"]["id"] == first["id"]
    assert again.headers["idempotent-replayed"] == "true"
    other = imports.create(connection, b"{}\n", key="k")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_what_is_too_large_is_refused(ledger: Ledger, imports: Imports) -> None:
    body = {"format": "openai", "connectionId": ledger.connect(), "purpose": "scoring"}
    for size in (0, 200_000_001):
        answer = ledger.platform.call("POST", "/api/v1/llm-imports", {**body, "bytes": size})
        assert answer.status == 422
        assert set(answer.fields) == {"bytes"}
