"""What cannot be stored is refused before anything is counted, and holds up nothing else."""

import os
from typing import Any

import boto3
import pytest

from autotune_platform.ledger import enqueuing
from autotune_platform.ledger.imports import checking
from autotune_platform.ledger.planning import RowPlanner
from tests.component.ledger.test_reasking import open_rows
from tests.support.compatible import Compatible
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger, row

HALF = "\ud800"
PATHS = {
    "/api/v1/llm-requests": lambda one: one,
    "/api/v1/llm-requests/batch": lambda one: {"requests": [one]},
    "/api/v1/llm-estimates": lambda one: {"requests": [one]},
}


def stored() -> tuple[list[str], list[str]]:
    """Return which items of requests there are, and which objects of their texts."""
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    rows = [one["pk"]["S"] for one in items if one["pk"]["S"].startswith("llm_")]
    s3 = boto3.client("s3")
    buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    pages = (s3.list_objects_v2(Bucket=name).get("Contents", []) for name in buckets)
    return rows, [one["Key"] for page in pages for one in page if "llm_" in one["Key"]]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("by", ["9999-12-31T23:59:59Z", "2099-01-01T00:00:00Z"])
def test_a_time_that_is_too_far_ahead_is_refused_by_name(
    ledger: Ledger, path: str, by: str
) -> None:
    body = PATHS[path](row(ledger.connect(), completeBy=by))
    answer = ledger.platform.call("POST", path, body)
    assert answer.status == 422, answer.text
    assert [field.rpartition(".")[2] for field in answer.fields] == ["completeBy"]
    assert "3650 days" in answer.text
    assert open_rows(ledger) == 0


def test_an_import_rejects_such_a_line_and_takes_no_such_default(
    ledger: Ledger, imports: Imports
) -> None:
    connection = ledger.connect()
    own = {"model": "small", "params": {"maxTokens": 5}, "input": {"user": "q"}}
    lines = jsonl(own, {**own, "completeBy": "9999-12-31T00:00:00Z"})
    found = imports.run(imports.start(connection, lines, format="autotune"))
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 1)
    assert [(one["line"], one["field"]) for one in found["errors"]] == [(2, "completeBy")]
    defaults = {"completeBy": "9999-12-31T00:00:00Z"}
    answer = imports.create(connection, lines, format="autotune", defaults=defaults)
    assert (answer.status, list(answer.fields)) == (422, ["defaults.completeBy"]), answer.text


@pytest.mark.parametrize("name", ["deadline_items", "_queued_at"])
def test_a_row_that_cannot_be_stored_is_not_counted_and_leaves_no_text(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def broken(*_: Any) -> Any:
        raise OverflowError("date value out of range")

    monkeypatch.setattr(enqueuing, name, broken)
    asked = row(ledger.connect(), os.urandom(20_000).hex())
    assert ledger.platform.call("POST", "/api/v1/llm-requests", asked).status == 500
    assert open_rows(ledger) == 0
    assert stored() == ([], [])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "params",
    [
        {"extra": {"a": HALF}},
        {"extra": {HALF: 1}},
        {"extra": {"a": ["x", {HALF: "b"}]}},
        {"responseFormat": {"type": "json_schema", "a": HALF}},
    ],
)
def test_half_a_pair_is_refused_by_name(ledger: Ledger, path: str, params: dict[str, Any]) -> None:
    asked = row(ledger.connect(), params={"maxTokens": 5, **params})
    answer = ledger.platform.call("POST", path, PATHS[path](asked))
    assert answer.status == 422, answer.text
    (named,) = answer.fields
    assert named.endswith(f"params.{next(iter(params))}")
    assert "UTF-8" in answer.text
    assert open_rows(ledger) == 0


def test_half_a_pair_costs_an_import_its_line_alone(ledger: Ledger, imports: Imports) -> None:
    lines = [
        openai_line("a"),
        openai_line("b", x=HALF),
        openai_line("c", logit_bias={HALF: 1}),
        openai_line("d", response_format={"type": "json_schema", "a": HALF}),
        openai_line("e"),
    ]
    found = imports.run(imports.start(ledger.connect(), jsonl(*lines)))
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 2)
    assert [one["line"] for one in found["errors"]] == [2, 3, 4]


def test_half_a_pair_holds_no_batch_of_the_openai_package(ledger: Ledger, imports: Imports) -> None:
    compatible = Compatible(ledger, imports)
    batch = compatible.begin(openai_line("b", x=HALF))
    (one,) = ledger.platform.call("GET", "/api/v1/llm-imports").json["imports"]
    imports.run(one["id"])
    assert compatible.ask("GET", f"/batches/{batch['id']}").json["status"] == "failed"


@pytest.mark.parametrize("is_planned", [False, True])
def test_a_line_that_breaks_what_reads_it_is_rejected_alone(
    ledger: Ledger, imports: Imports, monkeypatch: pytest.MonkeyPatch, is_planned: bool
) -> None:
    place: Any = RowPlanner if is_planned else checking
    name = "_planned_input" if is_planned else "request_of"
    sound = getattr(place, name)

    def broken(*args: Any) -> Any:
        made = sound(*args)
        if (made.row if is_planned else made).custom_id == "b":
            raise OverflowError("date value out of range")
        return made

    monkeypatch.setattr(place, name, broken)
    lines = jsonl(*map(openai_line, "abc"))
    found = imports.run(imports.start(ledger.connect(), lines))
    assert (found["state"], found["counts"]["enqueued"]) == ("completed", 2)
    ((line, message),) = [(one["line"], one["message"]) for one in found["errors"]]
    assert line == 2
    assert "cannot be read" in message


@pytest.mark.parametrize("name", ["Messages", "MODEL", "Stream", "N", "tool-choice", "toolChoice"])
def test_what_is_not_for_extra_is_refused_in_each_spelling(ledger: Ledger, name: str) -> None:
    asked = row(ledger.connect(), params={"maxTokens": 5, "extra": {name: 1}})
    answer = ledger.platform.call("POST", "/api/v1/llm-requests", asked)
    assert (answer.status, list(answer.fields)) == (422, ["params.extra"]), answer.text
    assert name in answer.text
