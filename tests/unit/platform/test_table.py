"""What a busy table refuses is sent again; what it keeps refusing is an error, never a loss."""

from typing import Any

import pytest

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Table


@pytest.fixture(autouse=True)
def _no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


class BusyClient:
    """A DynamoDB client that takes at most ``most`` items of each batch call."""

    def __init__(self, client: Any, most: int) -> None:
        self._client = client
        self._most = most
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def batch_write_item(self, RequestItems: dict) -> dict:  # noqa: N803
        self.calls += 1
        ((name, writes),) = RequestItems.items()
        if taken := writes[: self._most]:
            self._client.batch_write_item(RequestItems={name: taken})
        rest = writes[self._most :]
        return {"UnprocessedItems": {name: rest} if rest else {}}

    def batch_get_item(self, RequestItems: dict) -> dict:  # noqa: N803
        self.calls += 1
        ((name, asked),) = RequestItems.items()
        taken, rest = asked["Keys"][: self._most], asked["Keys"][self._most :]
        answer = (
            self._client.batch_get_item(RequestItems={name: {**asked, "Keys": taken}})
            if taken
            else {"Responses": {}}
        )
        return {**answer, "UnprocessedKeys": {name: {**asked, "Keys": rest}} if rest else {}}


ITEMS = [{"pk": f"p{n}", "sk": "s", "n": n, "f": n / 3, "b": b"\x00\xff"} for n in range(230)]


def test_any_number_of_items_goes_in_and_comes_out_unchanged(client: Any) -> None:
    table = Table("t", client)
    table.put_many(ITEMS)
    found = table.get_many([(item["pk"], "s") for item in ITEMS] + [("missing", "s")])
    assert sorted(found.values(), key=lambda item: item["n"]) == ITEMS


def test_unprocessed_items_are_sent_again(client: Any) -> None:
    busy = BusyClient(client, most=7)
    table = Table("t", busy)
    table.put_many(ITEMS[:25])
    assert busy.calls == 4
    assert len(table.get_many([(item["pk"], "s") for item in ITEMS[:25]])) == 25


def test_any_number_of_items_is_deleted_and_what_is_not_there_is_fine(client: Any) -> None:
    table = Table("t", client)
    table.put_many(ITEMS[:60])
    keys = [(item["pk"], "s") for item in ITEMS[:60]]
    busy = BusyClient(client, most=7)
    Table("t", busy).delete_many([*keys[:50], keys[0], ("missing", "s")])
    assert busy.calls > 3, "what was not processed was sent again"
    assert [*table.get_many(keys)] == keys[50:]
    with pytest.raises(UnavailableError):
        Table("t", BusyClient(client, most=0)).delete_many(keys)


def test_a_table_that_keeps_refusing_is_unavailable(client: Any) -> None:
    table = Table("t", BusyClient(client, most=0))
    with pytest.raises(UnavailableError) as refused:
        table.put_many(ITEMS[:1])
    assert refused.value.retry_after_seconds == 1
    with pytest.raises(UnavailableError):
        table.get_many([("p0", "s")])


def test_conditions_hold(client: Any) -> None:
    table = Table("t", client)
    assert table.put_new({"pk": "a", "sk": "s", "expires_at": 100})
    assert not table.put_new({"pk": "a", "sk": "s"})
    assert not table.put_new({"pk": "a", "sk": "s"}, or_expired_at=100)
    assert table.put_new({"pk": "a", "sk": "s", "v": 1}, or_expired_at=101)
    assert table.update("a", "s", {"v": 2}, only_if={"v": 3}) is None
    assert table.update("missing", "s", {"v": 2}) is None
    assert table.update("a", "s", {"v": 2}, only_if={"v": 1}) == {"pk": "a", "sk": "s", "v": 2}
    assert not table.replace("a", "s", {"v": 9}, only_if={"v": 1})
    assert table.replace("a", "s", {"v": 9}, only_if={"v": 2})
    assert table.get("a", "s") == {"pk": "a", "sk": "s", "v": 9}


def test_an_item_that_a_transaction_is_writing_is_busy_and_not_changed(client: Any) -> None:
    table = Table("t", client)
    table.put_new({"pk": "a", "sk": "s", "v": 1})

    class Conflicting(BusyClient):
        def put_item(self, **_: Any) -> None:
            answer: Any = {"Error": {"Code": "TransactionConflictException"}}
            raise client.exceptions.TransactionConflictException(answer, "PutItem")

    with pytest.raises(UnavailableError):
        Table("t", Conflicting(client, most=0)).replace("a", "s", {"v": 2}, only_if={"v": 1})
    assert table.get("a", "s") == {"pk": "a", "sk": "s", "v": 1}
