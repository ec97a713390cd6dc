"""Answers that are read again: no model is asked, nothing is paid, and nothing is overwritten."""

import json
import os
import threading
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune.protocol.limits import MAX_LLM_PARSES
from autotune_platform.ledger import changing, parsing_again
from tests.component.ledger.test_journeys import VERDICT, handler_parts
from tests.support.ledger import Ledger, later
from tests.support.platform import Answer

STARS = {"type": "number", "minimum": 0, "maximum": 5}
ANSWERED = "Well made.\nVERDICT: 4"


def answered(ledger: Ledger, said: str = ANSWERED, **fields: Any) -> str:
    ledger.fake.world.answers.answerer = lambda _: said
    (request_id,) = ledger.enqueue(ledger.connect(), "q", **fields)
    ledger.run()
    return str(request_id)


def parse(ledger: Ledger, request_id: str, verdict: Any = None) -> Answer:
    body = {} if verdict is None else {"verdict": verdict}
    return ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/parse", body)


def parses(ledger: Ledger, request_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ledger.platform.call(
        "GET", f"/api/v1/llm-requests/{request_id}/parses"
    ).json["parses"]
    return found


def test_an_answer_is_read_in_another_format_and_the_first_reading_stays(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT)
    before = ledger.read(request_id)
    assert (before["parseError"]["code"], before["parseVersion"]) == ("label_unknown", 1)
    bill = ledger.fake.world.bill()
    made = parse(ledger, request_id, STARS)
    assert made.status == 200, made.text
    found = ledger.read(request_id)
    assert (found["parsedVerdict"], found["verdictText"]) == (4, "4")
    assert found["reasoning"].endswith("Well made.")
    assert (found.get("parseError"), found["parseVersion"]) == (None, 2)
    assert found["verdict"]["type"] == "label"
    assert found["parsedWith"]["type"] == "number"
    for name in ("rawOutput", "costNanoUsd", "attempts", "updatedAt", "usage"):
        assert found[name] == before[name]
    assert ledger.fake.world.bill() == bill
    first, second = parses(ledger, request_id)
    assert (first["version"], first["parseError"]["code"]) == (1, "label_unknown")
    assert first["verdict"]["labels"] == VERDICT["labels"]
    assert first.get("parsedBy") is None
    assert second == made.json["parse"]
    assert (second["version"], second["parserVersion"], second["parsedVerdict"]) == (2, 1, 4)
    assert second["parsedBy"] == ledger.platform.api_key.partition(".")[0]
    (listed,) = ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    assert (listed.get("parseError"), listed["parseVersion"]) == (None, 2)


def test_the_same_again_makes_no_version_and_going_back_does(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT)
    assert parse(ledger, request_id).json["parse"]["version"] == 1
    assert parse(ledger, request_id, VERDICT).json["parse"]["version"] == 1
    for _ in range(3):
        assert parse(ledger, request_id, STARS).json["parse"]["version"] == 2
    back = parse(ledger, request_id).json["parse"]
    assert (back["version"], back["parseError"]["code"]) == (3, "label_unknown")
    found = ledger.read(request_id)
    assert (found["parseError"]["code"], found["parseVersion"]) == ("label_unknown", 3)
    assert {found.get(name) for name in ("parsedVerdict", "parsedWith", "reasoning")} == {None}
    assert [one["version"] for one in parses(ledger, request_id)] == [1, 2, 3]


def test_a_later_parser_makes_a_version_of_the_same_format(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=STARS)
    real = parsing_again.parse

    def newer(*args: Any, **options: Any) -> Any:
        return real(*args, **options).model_copy(update={"parser_version": 2})

    with (
        patch.object(parsing_again, "PARSER_VERSION", 2),
        patch.object(parsing_again, "parse", newer),
    ):
        assert parse(ledger, request_id).json["parse"]["version"] == 2
        assert parse(ledger, request_id).json["parse"]["version"] == 2
    assert [one["parserVersion"] for one in parses(ledger, request_id)] == [1, 2]


def test_an_answer_of_which_no_verdict_was_asked_gets_its_first_parse(ledger: Ledger) -> None:
    request_id = answered(ledger)
    assert ledger.read(request_id).get("parseVersion") is None
    assert parses(ledger, request_id) == []
    refused = parse(ledger, request_id)
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "verdict")
    assert parse(ledger, request_id, STARS).json["parse"]["version"] == 1
    found = ledger.read(request_id)
    assert (found["parseVersion"], found["parsedVerdict"]) == (1, 4)


def test_what_was_cut_stays_unread_in_any_format(ledger: Ledger) -> None:
    request_id = answered(ledger, said="VERDICT: 4 " + "x" * 900, params={"maxTokens": 10})
    assert ledger.read(request_id)["finishReason"] == "length"
    assert parse(ledger, request_id, STARS).json["parse"]["parseError"]["code"] == "output_cut"


def test_what_has_no_answer_is_not_parsed(ledger: Ledger) -> None:
    (queued,) = ledger.enqueue(ledger.connect(minRows=9), "q", verdict=VERDICT)
    for call in (parse(ledger, queued, STARS), parse(ledger, queued)):
        assert (call.status, call.json["code"]) == (409, "conflict")
        assert "queued" in call.json["detail"]
    listed = ledger.platform.call("GET", f"/api/v1/llm-requests/{queued}/parses")
    assert listed.status == 409
    assert parse(ledger, "llm_" + "0" * 26, STARS).status == 404
    wrong = parse(ledger, queued, {"type": "label"})
    assert (wrong.status, wrong.json["errors"][0]["field"]) == (422, "verdict.labels")


def test_parses_are_erased_with_their_answer(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=STARS, said="Well.\nVERDICT: secret-of-a-patient")
    text = {"type": "text"}
    assert parse(ledger, request_id, text).json["parse"]["parsedVerdict"] == "secret-of-a-patient"
    erased = ledger.platform.call("DELETE", f"/api/v1/llm-requests/{request_id}/content")
    assert erased.status == 204
    left = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    assert [one["sk"]["S"] for one in left if one["pk"]["S"] == request_id] == ["state"]
    assert "secret-of-a-patient" not in str(left)
    for call in (parse(ledger, request_id, STARS), parse(ledger, request_id, text)):
        assert (call.status, call.json["code"]) == (409, "conflict")
        assert "deleted" in call.json["detail"]
    assert ledger.read(request_id)["parseVersion"] == 2
    assert ledger.read(request_id).get("parsedVerdict") is None


def test_parses_go_when_their_answers_time_is_over(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT, retentionDays=1)
    parse(ledger, request_id, STARS)
    with later(timedelta(days=2)):
        assert handler_parts().row_texts.output_of(request_id) is None


def test_what_is_erased_while_it_is_parsed_keeps_no_parse(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT)
    texts = handler_parts().row_texts
    real = type(texts).add_parse

    def erased_first(*args: Any) -> bool:
        texts.erase([request_id])
        return real(*args)

    with patch.object(type(texts), "add_parse", erased_first):
        assert parse(ledger, request_id, STARS).status == 409
    left = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    assert [one["sk"]["S"] for one in left if one["pk"]["S"] == request_id] == ["state"]


def test_two_at_the_same_time_are_two_versions(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT)
    texts = type(handler_parts().row_texts)
    real = texts.add_parse
    raced = []

    def behind(*args: Any) -> bool:
        if not raced:
            raced.append(True)
            parse(ledger, request_id, {"type": "text"})
        return real(*args)

    with patch.object(texts, "add_parse", behind):
        assert parse(ledger, request_id, STARS).json["parse"]["version"] == 3
    assert [one["verdict"]["type"] for one in parses(ledger, request_id)] == [
        "label",
        "text",
        "number",
    ]


def test_versions_are_bounded_and_the_limit_is_named(ledger: Ledger) -> None:
    request_id = answered(ledger, verdict=VERDICT)
    for most in range(5, 5 + MAX_LLM_PARSES - 1):
        assert parse(ledger, request_id, {**STARS, "maximum": most}).status == 200
    refused = parse(ledger, request_id, {**STARS, "maximum": 1000})
    assert (refused.status, refused.json["code"]) == (409, "too_many_parses")
    assert refused.json["limit"]["maximum"] == MAX_LLM_PARSES
    assert parse(ledger, request_id, {**STARS, "maximum": most}).status == 200  # the latest
    assert len(parses(ledger, request_id)) == MAX_LLM_PARSES


def test_formats_of_many_bytes_are_bounded_before_the_item_is(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing_again, "MAX_LLM_PARSE_BYTES", 300)
    request_id = answered(ledger, verdict=VERDICT)
    labels = [f"label {number * 7919}" for number in range(100)]
    refused = parse(ledger, request_id, {"type": "label", "labels": labels})
    assert (refused.status, refused.json["code"]) == (409, "too_many_parses")
    assert (refused.json["limit"]["maximum"], refused.json["limit"]["unit"]) == (300, "bytes")
    assert len(parses(ledger, request_id)) == 1


def matching(ledger: Ledger, verdict: Any = None, **wanted: Any) -> Answer:
    body = {"filter": wanted, **({"verdict": verdict} if verdict else {})}
    return ledger.platform.call("POST", "/api/v1/llm-requests/parse", body)


def test_many_are_parsed_by_filter_page_by_page(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.changing.PAGE_ROWS", 3)
    ledger.fake.world.answers.answerer = lambda _: ANSWERED
    connection = ledger.connect()
    own = ledger.enqueue(connection, *"abcd", verdict=VERDICT, purpose="critic")
    bare = ledger.enqueue(connection, "e", purpose="critic")
    ledger.enqueue(connection, "f", verdict=VERDICT, purpose="scoring")
    ledger.run()
    (waiting,) = ledger.enqueue(ledger.connect(minRows=9), "g", purpose="critic")
    ledger.platform.call("DELETE", f"/api/v1/llm-requests/{own[0]}/content")
    for _ in range(2):  # the same pages again return the same, and change nothing
        parsed, skipped, token, pages = [], 0, None, 0
        while pages == 0 or token:
            body = {"filter": {"purpose": "critic"}, "verdict": STARS}
            page = ledger.platform.call(
                "POST",
                "/api/v1/llm-requests/parse",
                {**body, **({"nextToken": token} if token else {})},
            ).json
            parsed += page["requestIds"]
            skipped += page["skipped"]
            token, pages = page.get("nextToken"), pages + 1
        assert sorted(parsed) == sorted([*own[1:], *bare])
        assert (skipped, pages) == (1, 2)
    assert {ledger.read(one)["parsedVerdict"] for one in parsed} == {4}
    assert {ledger.read(one)["parseVersion"] for one in own[1:]} == {2}
    assert ledger.read(waiting)["status"] == "queued"
    own_formats = matching(ledger, purpose="critic").json
    assert own_formats["skipped"] >= 1


def test_a_filter_of_what_has_no_answer_is_refused_by_its_field(ledger: Ledger) -> None:
    refused = matching(ledger, STARS, status="error")
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "filter.status")


def test_a_page_ends_where_it_takes_long_and_the_next_goes_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers of some megabytes are read in portions, and nothing is read twice or left out."""
    many: list[int] = []
    under_way = threading.Lock()
    monkeypatch.setattr(changing, "PARSE_BYTES", 25_000)
    monkeypatch.setattr(changing, "PARSE_SECONDS", 0)
    ledger.fake.world.answers.answerer = lambda _: "a" * 10_000 + f"\n{ANSWERED}"
    params = {"maxTokens": 5_000}
    ids = ledger.enqueue(ledger.connect(), *"abcdef", verdict=VERDICT, params=params)
    ledger.run()
    sound = parsing_again.parse

    def watched(*args: Any, **options: Any) -> Any:
        with under_way:
            many[-1] += 1
        return sound(*args, **options)

    monkeypatch.setattr(parsing_again, "parse", watched)
    parsed, token = [], None
    while not many or token:
        many.append(0)
        body = {"filter": {}, "verdict": STARS, **({"nextToken": token} if token else {})}
        page = ledger.platform.call("POST", "/api/v1/llm-requests/parse", body).json
        assert len(page["requestIds"]) == many[-1]
        parsed += page["requestIds"]
        token = page.get("nextToken")
    assert sorted(parsed) == sorted(ids)
    assert many == [2, 2, 2]
    assert {ledger.read(one)["parsedVerdict"] for one in ids} == {4}


@pytest.mark.parametrize("days", [None, 30])
@pytest.mark.parametrize("said", ["short", "a" * 2_000_000, "random"])
def test_how_long_an_answer_is_is_known_before_it_is_read(
    ledger: Ledger, said: str, days: int | None
) -> None:
    """As plain text, compressed, in an object and in several items."""
    texts = handler_parts().ledger.texts
    text = os.urandom(600_000).hex() if said == "random" else said
    fields = {} if days is None else {"retentionDays": days}
    request_id = answered(ledger, text, params={"maxTokens": 1_000_000}, **fields)
    output = texts.output_of(request_id)
    assert output is not None
    assert output.raw_output.endswith(text[-1_000:])
    written = json.dumps(
        output.model_dump(mode="json", exclude={"later"}, exclude_none=True),
        separators=(",", ":"),
    )
    assert texts.output_sizes([request_id, "llm_nobody"]) == {request_id: len(written)}
