"""Requests that have ended, as files: what was asked, answered and paid, once each."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import export
from tests.support.ledger import MODEL, Ledger

# It packs badly, so that it becomes an object in S3.
LARGE = random.Random(1).randbytes(20_000).hex()
VERDICT = {"type": "label", "labels": ["good", "bad"]}


@pytest.fixture
def ended(ledger: Ledger) -> list[str]:
    """Requests of every end, with texts that are items and one that is an object in S3."""
    ledger.fake.world.answers.answerer = lambda ask: (
        LARGE if "long" in ask.prompt else "Yes.\nVERDICT: good"
    )
    connection = ledger.connect()
    ids = ledger.enqueue(connection, "a", "b", verdict=VERDICT, customId="mine")
    ids += ledger.enqueue(connection, "long", purpose="critic", params={"maxTokens": 100_000})
    ledger.run()
    patient = ledger.connect(minRows=100)
    ids += ledger.enqueue(patient, "never")
    ledger.platform.call("POST", f"/api/v1/llm-requests/{ids[-1]}/cancel")
    ledger.enqueue(patient, "still waiting")
    return ids


def test_each_ended_request_is_one_record(ledger: Ledger, ended: list[str]) -> None:
    made = export(ledger.platform, shape="llm_requests")
    assert sorted(record["id"] for record in made.records) == sorted(ended)
    records = {record["id"]: record for record in made.records}
    first = records[ended[0]]
    found = ledger.read(ended[0])
    assert first["rawOutput"] == found["rawOutput"]
    assert (first["parsedVerdict"], first["customId"]) == ("good", "mine")
    assert first["input"]["user"] == "a"
    assert first["costNanoUsd"] == found["costNanoUsd"] > 0
    assert first["attempts"] == 1
    assert records[ended[2]]["rawOutput"].endswith(LARGE)
    canceled = records[ended[3]]
    assert (canceled["status"], "rawOutput" in canceled) == ("canceled", False)
    counts = made.manifest["counts"]
    assert (counts["scanned"], counts["completed"], counts["canceled"]) == (4, 3, 1)
    assert made.manifest["modelIds"] == [MODEL]


def test_filters_choose_and_parquet_has_the_same(
    ledger: Ledger, ended: list[str], tmp_path: Path
) -> None:
    wanted = {"status": "completed", "purpose": "scoring"}
    lines = export(ledger.platform, shape="llm_requests", llmRequests=wanted)
    assert sorted(record["id"] for record in lines.records) == sorted(ended[:2])
    table = export(ledger.platform, shape="llm_requests", llmRequests=wanted, format="parquet")
    by_id = {record["id"]: record for record in table.rows(tmp_path)}
    for record in lines.records:
        found = by_id[record["id"]]
        for name in ("rawOutput", "customId", "model", "costNanoUsd", "createdAt"):
            assert found[name] == record[name], name


def test_openais_layout_is_that_of_its_output_file(ledger: Ledger, ended: list[str]) -> None:
    made = export(ledger.platform, shape="llm_requests", llmRequests={"layout": "openai"})
    lines = {line["id"]: line for line in made.records}
    done = lines[ended[0]]
    assert done["custom_id"] == "mine"
    assert done["error"] is None
    body = done["response"]["body"]
    assert body["choices"][0]["message"]["content"] == ledger.read(ended[0])["rawOutput"]
    assert body["usage"]["prompt_tokens"] == ledger.read(ended[0])["usage"]["inputTokens"]
    canceled = lines[ended[3]]
    assert (canceled["custom_id"], canceled["response"]) == (ended[3], None)
    assert canceled["error"]["code"] == "canceled"


def test_parts_and_steps_end_anywhere_and_no_request_comes_twice(
    ledger: Ledger, ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 1)
    monkeypatch.setattr("autotune_platform.exports.llm_requests.PAGE_ROWS", 2)
    made = export(ledger.platform, shape="llm_requests")
    assert sorted(record["id"] for record in made.records) == sorted(ended)
    assert len(made.manifest["parts"]) == 4


@pytest.mark.parametrize(
    "body",
    [
        {"format": "tfrecord"},
        {"filters": {"minScore": 0.5}},
        {"format": "parquet", "llmRequests": {"layout": "openai"}},
        {"shape": "scores", "llmRequests": {}},
        {"llmRequests": {"status": "gone"}},
    ],
    ids=["tfrecord", "filters", "layout", "shape", "status"],
)
def test_what_goes_not_with_requests_is_refused(ledger: Ledger, body: dict[str, Any]) -> None:
    whole = {"format": "jsonl", "shape": "llm_requests", **body}
    answer = ledger.platform.call("POST", "/api/v1/exports", whole)
    assert answer.status == 422


def test_another_organisation_exports_none_of_them(ledger: Ledger, ended: list[str]) -> None:
    other = ledger.platform.new_organization("second")
    answer = ledger.platform.call(
        "POST", "/api/v1/exports", {"format": "jsonl", "shape": "llm_requests"}, api_key=other
    )
    export_id = answer.json["export"]["id"]
    started = {"export_id": export_id, "redrive": 0}
    while not ledger.platform.write_export(started)["done"]:
        pass
    found = ledger.platform.call("GET", f"/api/v1/exports/{export_id}", api_key=other)
    assert found.json["export"]["progress"]["recordsWritten"] == 0
