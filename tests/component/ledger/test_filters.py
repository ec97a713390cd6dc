"""Listing, canceling and retrying by filter: page by page, each once, and nothing of others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.component.ledger.test_journeys import statuses
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger


def change(ledger: Ledger, what: str, **wanted: Any) -> tuple[list[str], int]:
    """Go through all pages; return the ids, and how many pages there were."""
    ids: list[str] = []
    token, pages = None, 0
    while True:
        body = {"filter": wanted, **({"nextToken": token} if token else {})}
        answer = ledger.platform.call("POST", f"/api/v1/llm-requests/{what}", body)
        assert answer.status in {200, 202}, answer.text
        ids += answer.json["requestIds"]
        pages += 1
        token = answer.json.get("nextToken")
        if token is None:
            return ids, pages


def listed(ledger: Ledger, **query: str) -> set[str]:
    answer = ledger.platform.call("GET", "/api/v1/llm-requests", query=query)
    assert answer.status == 200, answer.text
    return {one["id"] for one in answer.json["requests"]}


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune_platform.ledger.changing.PAGE_ROWS", 5)


def test_what_matches_is_canceled_page_by_page_and_nothing_else(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=100)
    wanted = ledger.enqueue(patient, *"abcdefghijkl", trace={"rubricId": "r1"})
    others = ledger.enqueue(patient, "x", "y", trace={"rubricId": "r2"})
    canceled, pages = change(ledger, "cancel", rubricId="r1")
    assert sorted(canceled) == sorted(wanted)
    assert pages >= 3
    assert statuses(ledger, wanted) == {"canceled": 12}
    assert statuses(ledger, others) == {"queued": 2}
    assert change(ledger, "cancel", rubricId="r1")[0] == []


def test_what_ended_without_an_answer_is_retried_once(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=100)
    wanted = ledger.enqueue(patient, *"abcdefg", purpose="critic")
    change(ledger, "cancel", purpose="critic")
    first, _ = change(ledger, "retry", purpose="critic", errorCode="canceled")
    assert len(set(first)) == 7
    assert {ledger.read(one)["retryOf"] for one in first} == set(wanted)
    again, _ = change(ledger, "retry", purpose="critic", errorCode="canceled")
    assert sorted(again) == sorted(first)
    ledger.platform.call("DELETE", f"/api/v1/llm-requests/{wanted[0]}/content")
    left, _ = change(ledger, "retry", purpose="critic", errorCode="canceled")
    assert len(left) == 6, "its texts are gone"


def test_statuses_that_make_no_sense_are_refused(ledger: Ledger) -> None:
    for what, status in (("cancel", "completed"), ("retry", "queued")):
        body = {"filter": {"status": status}}
        answer = ledger.platform.call("POST", f"/api/v1/llm-requests/{what}", body)
        assert (answer.status, set(answer.fields)) == (422, {"filter.status"})
    answer = ledger.platform.call("POST", "/api/v1/llm-requests/cancel", {})
    assert (answer.status, set(answer.fields)) == (422, {"filter"})


def test_requests_are_listed_by_batch_error_trace_and_time(ledger: Ledger) -> None:
    connection = ledger.connect()
    done = ledger.enqueue(connection, "a", "b", trace={"sampleId": "s", "scoreId": "q"})
    ledger.run()
    (batch,) = ledger.batches()
    between = datetime.now(UTC).isoformat()
    later = ledger.enqueue(ledger.connect(minRows=100), "c")
    ledger.platform.call("POST", f"/api/v1/llm-requests/{later[0]}/cancel")
    assert listed(ledger, batchId=batch["id"]) == set(done)
    assert listed(ledger, sampleId="s", scoreId="q") == set(done)
    assert listed(ledger, sampleId="s", scoreId="other") == set()
    assert listed(ledger, errorCode="canceled") == set(later)
    assert listed(ledger, createdBefore=between) == set(done)
    assert listed(ledger, createdAfter=between) == set(later)
    assert listed(ledger, createdAfter=between, createdBefore=between) == set()


def test_a_time_ends_the_list_and_no_page_is_left_over(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=100)
    ledger.enqueue(patient, *"abcdef")
    between = datetime.now(UTC).isoformat()
    young = ledger.enqueue(patient, *"ghijk")
    query = {"createdAfter": between, "limit": "2"}
    found: set[str] = set()
    pages = 0
    while True:
        answer = ledger.platform.call("GET", "/api/v1/llm-requests", query=query).json
        found |= {one["id"] for one in answer["requests"]}
        pages += 1
        if answer.get("nextToken") is None:
            break
        query["nextToken"] = answer["nextToken"]
    assert found == set(young)
    assert pages <= 6


def test_retries_of_an_import_are_in_its_list(ledger: Ledger, imports: Imports) -> None:
    made = imports.start(ledger.connect(minRows=9), jsonl(openai_line("a"), openai_line("b")))
    imports.step(made)
    first = listed(ledger, importId=made)
    canceled, _ = change(ledger, "cancel", importId=made)
    again, _ = change(ledger, "retry", importId=made)
    assert (set(canceled), len(again)) == (first, 2)
    assert listed(ledger, importId=made) == first | set(again)
    found = ledger.read(again[0])
    assert found["importId"] == made
    assert found["customId"] == ledger.read(found["retryOf"])["customId"]


def test_a_parameter_that_is_none_is_named_instead_of_ignored(ledger: Ledger) -> None:
    rows = ledger.enqueue(ledger.connect(minRows=100), "a", purpose="critic")
    path = "/api/v1/llm-requests"
    answer = ledger.platform.call("GET", path, query={"purpos": "critic"})
    assert (answer.status, list(answer.fields)) == (422, ["purpos"])
    assert listed(ledger, purpose="critic", limit="5") == set(rows)
