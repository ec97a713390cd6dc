"""Deleting texts by filter: page by page, of what has ended, and nothing of others."""

from collections.abc import Iterable
from dataclasses import replace

import boto3
import pytest

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Key, Table
from tests.component.ledger.test_filters import change
from tests.component.ledger.test_journeys import statuses
from tests.component.ledger.test_parsing_again import handler_parts
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


def test_an_erasure_that_is_cut_off_is_made_good_by_the_next(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    # In an item, in several, and in an object.
    ids = ledger.enqueue(connection, "a")
    ids += ledger.enqueue(connection, "".join(map(str, range(200_000))), retentionDays=3)
    ids += ledger.enqueue(connection, "".join(map(str, range(30_000))))
    other = ledger.enqueue(connection, "x")
    ledger.run()
    delete_many = Table.delete_many
    calls: list[list[Key]] = []

    def killed(self: Table, keys: Iterable[Key]) -> None:
        calls.append(list(keys))
        if len(calls) > 1:
            delete_many(self, calls[-1])
            return
        delete_many(self, calls[0][:1])
        raise InterruptedError

    monkeypatch.setattr(Table, "delete_many", killed)
    texts = handler_parts().row_texts
    with pytest.raises(InterruptedError):
        texts.erase(ids)
    assert len(calls[0]) == 2, "the parts of one text, of which one is gone"
    assert stored() == {*ids, *other}, "whoever looks again finds what is left"
    for _ in range(2):
        texts.erase(ids)
        assert stored() == set(other)


def test_a_bucket_that_refuses_leaves_items_that_lead_to_its_objects(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ledger.enqueue(ledger.connect(), "".join(map(str, range(30_000))))
    ledger.run()
    texts = handler_parts().row_texts

    class Refusing:
        def delete_objects(self, **_: object) -> dict[str, object]:
            return {"Errors": [{"Key": "k", "Code": "SlowDown"}]}

    with pytest.raises(UnavailableError):
        replace(texts, s3=Refusing()).erase(ids)
    assert texts.input_of(ids[0]) is not None
    texts.erase(ids)
    assert stored() == set()
