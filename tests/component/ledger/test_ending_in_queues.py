"""Rows that end in their queue are counted off with it, wherever the process is killed."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.models import Row
from autotune_platform.ledger.queued_ends import ROWS_AT_ONCE
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.storage.table import Table
from tests.component.ledger.test_cost_of_a_job import RowWrites
from tests.component.ledger.test_deadlines import soon
from tests.support.killing import Killed, Killer
from tests.support.ledger import Ledger, later

ROWS = 3

_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}

Act = Callable[[Ledger, str, list[str], float], object]


def counted(ledger: Ledger) -> int:
    """How many rows are under way, as the table counts them."""
    key = {"pk": f"open#{ledger.platform.me()['organizationId']}", "sk": "rows"}
    return int(boto3.resource("dynamodb").Table("ledger").get_item(Key=key)["Item"]["rows"])


def scanned() -> Counter[str]:
    """How many rows have which status, as a scan finds them."""
    items = boto3.resource("dynamodb").Table("ledger").scan(ConsistentRead=True)["Items"]
    rows = (one for one in items if one["pk"].startswith("llm_") and one["sk"] == "state")
    return Counter(str(one["status"]) for one in rows)


def cancel_page(ledger: Ledger) -> set[str]:
    """Cancel everything that waits; return the ids of what was."""
    answer = ledger.platform.call("POST", "/api/v1/llm-requests/cancel", {"filter": {}})
    return set(answer.json["requestIds"])


def cancel_one(ledger: Ledger, _connection: str, ids: list[str], _minutes: float) -> None:
    ledger.platform.call("POST", f"/api/v1/llm-requests/{ids[0]}/cancel")


def cancel_all(ledger: Ledger, _connection: str, _ids: list[str], _minutes: float) -> None:
    ledger.platform.call("POST", "/api/v1/llm-requests/cancel", {"filter": {}})


def look(ledger: Ledger, connection: str, _ids: list[str], minutes: float) -> None:
    """Have a batch made of a queue, whose rows are late by now."""
    with later(timedelta(minutes=16 + minutes)):
        ledger.step({"group": f"group#{connection}#calls#small"})


def revoke_and_look(ledger: Ledger, connection: str, ids: list[str], minutes: float) -> None:
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    look(ledger, connection, ids, minutes)


@pytest.mark.parametrize("act", [cancel_one, cancel_all, look, revoke_and_look])
def test_a_process_that_is_killed_leaves_the_count_right(ledger: Ledger, act: Act) -> None:
    killer = Killer()

    def do(*, minutes: float, calls: float = float("inf")) -> None:
        """Do it with rows of its own, until so many calls of AWS are made."""
        connection = ledger.connect(minRows=20, maxWaitSeconds=60_000)
        due = soon() if act is look else {}
        ids = ledger.enqueue(connection, *(f"q{number}" for number in range(ROWS)), **due)
        killer.called.clear()
        killer.kill("after-call", after=calls)
        with suppress(Killed):
            act(ledger, connection, ids, minutes)
        killer.spare()

    do(minutes=0)
    assert counted(ledger) == scanned()["queued"] == (ROWS - 1 if act is cancel_one else 0)
    writes = [place for place, name in enumerate(killer.called) if name in _WRITES]
    for number, place in enumerate(writes, start=1):
        do(minutes=20 * number, calls=place)
        assert counted(ledger) == scanned()["queued"], f"killed after call {place}"


def test_many_rows_that_end_share_transactions(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=90)
    ledger.enqueue(connection, *(f"q{number}" for number in range(ROWS_AT_ONCE + 5)))
    writes = RowWrites()
    assert len(cancel_page(ledger)) == ROWS_AT_ONCE + 5
    assert writes.take() == {"transact Update state": 2 * (ROWS_AT_ONCE + 5)}
    assert writes.transactions == 2
    assert (counted(ledger), scanned()) == (0, {"canceled": ROWS_AT_ONCE + 5})


def test_a_row_that_leaves_its_queue_in_between_holds_up_no_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=20), "a", "b", "c")
    together = RowRepository.write_together
    taken: list[Row] = []

    def taken_first(self: RowRepository, additions: Any) -> bool:
        if not taken:
            row = self.claim(self.get_many(ids)[ids[1]], "lbt_other", datetime.now(UTC))
            taken.extend([row] if row else [])
        return together(self, additions)

    monkeypatch.setattr(RowRepository, "write_together", taken_first)
    assert cancel_page(ledger) == set(ids)
    assert [one.id for one in taken] == [ids[1]]
    assert ledger.read(ids[1])["status"] == "submitted"
    assert ledger.read(ids[1])["cancelRequestedAt"] is not None
    assert (counted(ledger), scanned()) == (1, {"canceled": 2, "submitted": 1})


def test_a_count_that_others_keep_writing_is_no_reason_to_end_a_row_without_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(minRows=20), "a")
    with monkeypatch.context() as patched:
        patched.setattr(Table, "add_together", lambda *_: False)
        answer = ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/cancel")
    assert answer.status == 503
    assert (counted(ledger), scanned()) == (1, {"queued": 1})
    assert cancel_page(ledger) == {request_id}
    assert (counted(ledger), scanned()) == (0, {"canceled": 1})
