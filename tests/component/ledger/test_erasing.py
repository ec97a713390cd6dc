"""Deleting texts by filter: page by page, of what has ended, and nothing of others."""

import boto3
import pytest

from tests.component.ledger.test_filters import change
from tests.component.ledger.test_journeys import statuses
from tests.support.ledger import Ledger

PATH = "/api/v1/llm-requests/delete-content"


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune_platform.ledger.changing.PAGE_ROWS", 5)


def stored() -> set[str]:
    """Ids of requests of which a text is stored anywhere."""
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    kinds = {"input", "output"}
    found = {one["pk"]["S"] for one in items if one["sk"]["S"].partition("#")[0] in kinds}
    listed = boto3.client("s3").list_objects_v2(Bucket="ledger").get("Contents", [])
    return found | {one["Key"].split("/")[1] for one in listed}


def test_texts_of_what_matches_and_has_ended_go_page_by_page(ledger: Ledger) -> None:
    connection = ledger.connect()
    # One that outgrows an item is stored apart, in items where it goes by itself.
    ended = ledger.enqueue(connection, *"abcdefghij", purpose="critic")
    ended += ledger.enqueue(connection, "k" * 40_000, purpose="critic", retentionDays=3)
    ended += ledger.enqueue(connection, "".join(map(str, range(30_000))), purpose="critic")
    others = ledger.enqueue(connection, "x")
    ledger.run()
    waiting = ledger.enqueue(ledger.connect(minRows=100), "y", purpose="critic")
    assert stored() == {*ended, *others, *waiting}
    erased, pages = change(ledger, "delete-content", purpose="critic")
    assert sorted(erased) == sorted(ended)
    assert pages >= 3
    assert stored() == {*others, *waiting}
    assert statuses(ledger, ended) == {"completed": 12}
    found = ledger.read(ended[0])
    assert "input" not in found or found["input"] is None
    assert found["costNanoUsd"] > 0
    again, _ = change(ledger, "delete-content", purpose="critic")
    assert sorted(again) == sorted(ended)


def test_what_has_not_ended_keeps_its_texts(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=100), "a", "b")
    assert change(ledger, "delete-content")[0] == []
    for status in ("queued", "submitted"):
        answer = ledger.platform.call("POST", PATH, {"filter": {"status": status}})
        assert (answer.status, set(answer.fields)) == (422, {"filter.status"})
    ledger.platform.call("POST", f"/api/v1/llm-requests/{ids[0]}/cancel")
    assert change(ledger, "delete-content", status="canceled")[0] == [ids[0]]
    assert stored() == {ids[1]}


def test_another_organisations_texts_stay(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(), "a")
    ledger.run()
    other = ledger.platform.new_organization("second")
    answer = ledger.platform.call("POST", PATH, {"filter": {}}, api_key=other)
    assert (answer.status, answer.json["requestIds"]) == (200, [])
    assert stored() == set(ids)
