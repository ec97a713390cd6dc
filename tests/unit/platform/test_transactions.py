"""A transaction writes everything or nothing, and says which conditions did not hold."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Table
from autotune_platform.storage.transactions import PRESENT, Condition, Delete, Put


@pytest.fixture(autouse=True)
def _no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


@pytest.fixture
def table(client: Any) -> Table:
    return Table("t", client)


def item(pk: str, **attributes: Any) -> dict[str, Any]:
    return {"pk": pk, "sk": "s", **attributes}


def test_everything_is_written_together(table: Table) -> None:
    table.put_many([item("old", status="a"), item("dead")])
    refused = table.transact(
        [
            Put(item=item("new", value=0.25), condition=Condition(exists=False)),
            Put(
                item=item("old", status="b"),
                condition=Condition(exists=True, only_if={"status": "a"}),
            ),
            Delete(pk="dead", sk="s", condition=PRESENT),
            Delete(pk="never was", sk="s"),
        ]
    )
    assert refused == []
    assert table.get("new", "s") == item("new", value=0.25)
    assert table.get("old", "s") == item("old", status="b")
    assert table.get("dead", "s") is None


def test_nothing_is_written_where_a_condition_does_not_hold(table: Table) -> None:
    table.put_many([item("there", v=1), item("beside", v=1)])
    writes = [
        Put(item=item("other")),
        Put(item=item("there", v=2), condition=Condition(only_if={"v": 2})),
        Delete(pk="missing", sk="s", condition=PRESENT),
        Delete(pk="beside", sk="s", condition=Condition(only_if={"v": 1})),
    ]
    assert table.transact(writes) == [1, 2]
    assert table.get("other", "s") is None
    assert table.get("there", "s") == item("there", v=1)
    assert table.get("beside", "s") == item("beside", v=1)


class ContendedClient:
    """A DynamoDB client that cancels the first transactions, as AWS does."""

    def __init__(self, client: Any, codes: list[list[str]]) -> None:
        self._client = client
        self._codes = codes
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **request: Any) -> Any:
        self.calls += 1
        if self.calls > len(self._codes):
            return self._client.transact_write_items(**request)
        reasons = [{"Code": code} for code in self._codes[self.calls - 1]]
        answer: Any = {
            "Error": {"Code": "TransactionCanceledException"},
            "CancellationReasons": reasons,
        }
        raise self._client.exceptions.TransactionCanceledException(answer, "TransactWriteItems")


def test_a_contended_or_throttled_transaction_is_tried_again(client: Any) -> None:
    contended = ContendedClient(
        client,
        [["None", "TransactionConflict"], ["ThrottlingError", "None"]],
    )
    assert Table("t", contended).transact([Put(item=item("a")), Put(item=item("b"))]) == []
    assert contended.calls == 3
    assert Table("t", client).get("b", "s") == item("b")


def test_a_table_that_stays_contended_is_unavailable(client: Any) -> None:
    contended = ContendedClient(client, [["TransactionConflict"]] * 100)
    with pytest.raises(UnavailableError):
        Table("t", contended).transact([Put(item=item("a"))])
    assert 1 < contended.calls < 100
    assert Table("t", client).get("a", "s") is None


def test_a_refused_condition_is_told_at_once_even_beside_a_conflict(client: Any) -> None:
    contended = ContendedClient(client, [["TransactionConflict", "ConditionalCheckFailed"]])
    assert Table("t", contended).transact([Put(item=item("a")), Put(item=item("b"))]) == [1]
    assert contended.calls == 1


def test_a_fault_of_ours_is_neither_repeated_nor_hidden(client: Any) -> None:
    contended = ContendedClient(client, [["ValidationError"]])
    with pytest.raises(ClientError):
        Table("t", contended).transact([Put(item=item("a"))])
    assert contended.calls == 1
