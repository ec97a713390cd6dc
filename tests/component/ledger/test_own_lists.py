"""Requests of a batch or an import: read from its own list, whatever else there is."""

from typing import Any

import boto3
import pytest

from autotune.protocol.llm_imports import LlmImport
from tests.component.ledger.test_filters import change
from tests.component.ledger.test_lists import LISTS, pages
from tests.support.exports import export
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import Ledger

OTHERS = 60


@pytest.fixture
def among_others(ledger: Ledger) -> None:
    ledger.enqueue(ledger.connect(minRows=200), *map(str, range(OTHERS)))


def imported(ledger: Ledger, imports: Imports, count: int, **connection: Any) -> str:
    lines = [openai_line(str(number)) for number in range(count)]
    made = imports.start(ledger.connect(**{"minRows": 200, **connection}), jsonl(*lines))
    imports.run(made)
    return made


def forget(import_id: str) -> None:
    """Have an import gone, as after 7 days."""
    key = {"pk": {"S": import_id}, "sk": {"S": "state"}}
    boto3.client("dynamodb").delete_item(TableName="ledger", Key=key)


def test_a_batchs_requests_come_in_its_order_and_nothing_else_is_read(
    ledger: Ledger, among_others: None
) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=9), *"abcdefghi", priority="high")
    ledger.run()
    (batch,) = ledger.batches()
    rows = ledger.platform.call("GET", f"/api/v1/llm-batches/{batch['id']}/rows").json
    in_order = [one["id"] for one in rows["requests"]]
    assert sorted(in_order) == sorted(ids)
    found, read = pages(ledger, batchId=batch["id"], limit="4")
    assert found == in_order
    assert [(one["rows"], one["queries"], one["table"]) for one in read] == [
        (4, 0, 1),
        (4, 0, 1),
        (1, 0, 1),
    ]
    assert pages(ledger, batchId=batch["id"], status="error")[0] == []
    assert pages(ledger, batchId="lbt_none")[0] == []
    other = ledger.platform.new_organization("second")
    answer = ledger.platform.call(
        "GET", "/api/v1/llm-requests", query={"batchId": batch["id"]}, api_key=other
    )
    assert answer.json["requests"] == []


def test_the_pages_of_a_long_batch_are_read_from_where_they_begin(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.batch_repository.PAGE_ROWS", 3)
    ids = ledger.enqueue(ledger.connect(minRows=8), *"abcdefgh")
    ledger.run()
    (batch,) = ledger.batches()
    for limit in ("1", "2", "3", "5"):
        found, _ = pages(ledger, batchId=batch["id"], limit=limit)
        assert len(found) == 8
        assert set(found) == set(ids)
    path = f"/api/v1/llm-batches/{batch['id']}/rows"
    first = ledger.platform.call("GET", path, query={"limit": "4"}).json
    rest = ledger.platform.call("GET", path, query={"nextToken": first["nextToken"]}).json
    assert [one["id"] for one in first["requests"] + rest["requests"]] == found


def test_what_left_a_batch_is_not_in_its_list(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=2), "a", "b")
    ledger.run()
    (batch,) = ledger.batches()
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": ids[0]}, "sk": {"S": "state"}},
        UpdateExpression="SET batch_id = :other",
        ExpressionAttributeValues={":other": {"S": "lbt_later"}},
    )
    assert pages(ledger, batchId=batch["id"])[0] == [ids[1]]


def test_an_imports_requests_come_in_the_order_of_its_lines_without_any_index(
    ledger: Ledger, imports: Imports, among_others: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = imported(ledger, imports, 9)
    found, read = pages(ledger, importId=made, limit="4")
    assert [ledger.read(one)["customId"] for one in found] == list("012345678")
    assert [one["queries"] + one["table"] for one in read] == [0, 0, 0]
    assert sum(one["rows"] for one in read) == 9 + 5 + 1
    monkeypatch.setattr(f"{LISTS}._LEAST_AT_A_TIME", 1)
    again, read = pages(ledger, importId=made, limit="4")
    assert (again, [one["rows"] for one in read]) == (found, [4, 4, 1])
    assert pages(ledger, importId=made, status="completed")[0] == []


def test_what_an_imports_requests_were_retried_as_stands_behind_them_however_often(
    ledger: Ledger, imports: Imports
) -> None:
    made = imported(ledger, imports, 3)
    first, _ = pages(ledger, importId=made)
    for _ in range(2):
        change(ledger, "cancel", importId=made)
        change(ledger, "retry", importId=made)
    for limit in ("1", "2", "50"):
        found, _ = pages(ledger, importId=made, limit=limit)
        assert [one for one in found if one in first] == first
        assert len(found) == len(set(found)) == 9
        assert all(
            ledger.read(one)["customId"] == str(place // 3) for place, one in enumerate(found)
        )


def test_after_an_import_has_gone_its_requests_are_found_among_all(
    ledger: Ledger, imports: Imports, among_others: None
) -> None:
    made = imported(ledger, imports, 5)
    query = {"importId": made, "limit": "2"}
    begun = ledger.platform.call("GET", "/api/v1/llm-requests", query=query).json
    in_order, _ = pages(ledger, importId=made)
    forget(made)
    rest, read = pages(ledger, **query, nextToken=begun["nextToken"])
    assert [one["id"] for one in begun["requests"]] + rest == in_order
    assert all(one["queries"] == 0 for one in read)
    anew, (read_anew,) = pages(ledger, importId=made)
    assert set(anew) == set(in_order)
    assert read_anew["rows"] == OTHERS + 5


def test_requests_of_a_chunk_that_was_stored_and_never_noted_are_listed(
    ledger: Ledger, imports: Imports
) -> None:
    made = imported(ledger, imports, 4)
    in_order, _ = pages(ledger, importId=made)
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": made}, "sk": {"S": "state"}},
        UpdateExpression="SET #state = :canceled, line = :none",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":canceled": {"S": "canceled"}, ":none": {"N": "0"}},
    )
    assert LlmImport.model_validate(imports.read(made)).counts.lines == 0
    assert pages(ledger, importId=made, limit="3")[0] == in_order


def test_an_import_that_is_only_checked_has_none(ledger: Ledger, imports: Imports) -> None:
    lines = jsonl(openai_line("a"), {"custom_id": "b"})
    made = imports.start(ledger.connect(minRows=9), lines, onError="rejectAll")
    imports.run(made)
    assert imports.read(made)["state"] == "failed"
    found, (read,) = pages(ledger, importId=made)
    assert (found, read["rows"]) == ([], 0)


def test_a_page_of_an_import_is_bounded_too(
    ledger: Ledger, imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{LISTS}.MOST_LOOKED_AT", 4)
    monkeypatch.setattr(f"{LISTS}._AT_A_TIME", 2)
    monkeypatch.setattr(f"{LISTS}._LEAST_AT_A_TIME", 1)
    made = imported(ledger, imports, 10)
    found, read = pages(ledger, importId=made, status="completed")
    assert (found, [one["rows"] for one in read]) == ([], [4, 4, 2])


@pytest.mark.parametrize("name", ["batchId", "importId"])
def test_a_token_of_another_list_is_refused(ledger: Ledger, imports: Imports, name: str) -> None:
    made = imported(ledger, imports, 3, minRows=1)
    ledger.run()
    batch = ledger.batches()[0]["id"]
    own = {"batchId": batch, "importId": made}
    other = "importId" if name == "batchId" else "batchId"
    path = "/api/v1/llm-requests"
    query = {name: own[name], "limit": "1"}
    token = ledger.platform.call("GET", path, query=query).json["nextToken"]
    for wanted in ({other: own[other]}, {"purpose": "scoring"}):
        answer = ledger.platform.call("GET", path, query={**wanted, "nextToken": token})
        assert (answer.status, list(answer.fields)) == (422, ["nextToken"])


def test_what_a_batch_or_an_import_has_is_canceled_and_retried_by_its_own_list(
    ledger: Ledger, imports: Imports, among_others: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.changing.PAGE_ROWS", 2)
    made = imported(ledger, imports, 5)
    in_order, _ = pages(ledger, importId=made)
    canceled, count = change(ledger, "cancel", importId=made)
    assert (canceled, count) == (in_order, 3)
    retried, _ = change(ledger, "retry", importId=made)
    assert [ledger.read(one)["retryOf"] for one in retried] == in_order


def test_an_export_of_a_batch_or_an_import_has_each_of_its_ended_requests_once(
    ledger: Ledger, imports: Imports, among_others: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 2)
    made = imported(ledger, imports, 5, minRows=5)
    ledger.run()
    in_order, _ = pages(ledger, importId=made)
    (batch,) = ledger.batches()
    for wanted in ({"importId": made}, {"batchId": batch["id"]}):
        found = export(ledger.platform, shape="llm_requests", llmRequests=wanted)
        assert sorted(one["id"] for one in found.records) == sorted(in_order)
        assert len(found.manifest["parts"]) == 3
        none = export(ledger.platform, shape="llm_requests", llmRequests={**wanted, "deckId": "x"})
        assert none.records == []
