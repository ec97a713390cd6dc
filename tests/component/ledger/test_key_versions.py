"""Keys that were replaced go once no job needs them, and never before."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.connections import ConnectionService
from autotune_platform.ledger.keys import REPLACED_FOR
from autotune_platform.ledger.models import Connection
from autotune_platform.storage.table import Table
from tests.component.ledger.test_jobs import assert_paid_once, connect
from tests.support.ledger import Ledger

FIRST, SECOND = "key#000001", "key#000002"


def stored(connection_id: str) -> dict[str, dict[str, Any]]:
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    mine = [one for one in items if one["pk"]["S"] == connection_id]
    return {one["sk"]["S"]: one for one in mine if one["sk"]["S"].startswith("key#")}


def service() -> ConnectionService:
    found: ConnectionService = (
        import_module("functions.ledger.connections_api").parts().llm_connections
    )
    return found


def connection_of(connection_id: str) -> Connection:
    found = service().repository.get(connection_id)
    assert found is not None
    return found


def replace_key(ledger: Ledger, connection_id: str, key: str = "fake-key-2") -> None:
    path = f"/api/v1/llm-connections/{connection_id}"
    answer = ledger.platform.call("PATCH", path, {"apiKey": key})
    assert answer.status == 200, answer.text


def retire(connection_id: str, *, after: timedelta = timedelta()) -> None:
    now = datetime.now(UTC) + after
    service().keys.retire(
        connection_of(connection_id), is_settled=service().batches.is_settled, now=now
    )


def test_a_key_that_no_job_needs_goes_an_hour_after_it_was_replaced(ledger: Ledger) -> None:
    connection = ledger.connect()
    replace_key(ledger, connection)
    found = stored(connection)
    assert list(found) == [FIRST, SECOND]
    # DynamoDB deletes it by itself where nobody comes again.
    due = float(found[FIRST]["expires_at"]["N"])
    in_an_hour = (datetime.now(UTC) + REPLACED_FOR).timestamp()
    assert in_an_hour - 60 < due <= in_an_hour
    assert "expires_at" not in found[SECOND]
    retire(connection, after=timedelta(minutes=55))
    assert list(stored(connection)) == [FIRST, SECOND]
    retire(connection, after=timedelta(minutes=61))
    assert list(stored(connection)) == [SECOND]


def test_the_key_of_a_job_stays_until_that_has_ended(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 3 * 3_600
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, "q 1", "q 2", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.5)
    (batch,) = ledger.batches()
    assert list(stored(connection)) == [FIRST, f"key#used#{batch['id']}"]
    replace_key(ledger, connection)
    retire(connection, after=timedelta(days=9))
    retire(connection, after=timedelta(days=18))
    assert "expires_at" not in stored(connection)[FIRST]
    ledger.run_jobs()
    assert_paid_once(ledger, ids)
    found = stored(connection)
    assert list(found) == [FIRST, SECOND]
    assert "expires_at" in found[FIRST]
    retire(connection, after=timedelta(days=9))
    assert list(stored(connection)) == [SECOND]


def test_a_job_that_is_noted_late_keeps_the_key_that_was_to_go(ledger: Ledger) -> None:
    connection = connect(ledger, "openai")
    before = connection_of(connection)
    replace_key(ledger, connection)
    assert "expires_at" in stored(connection)[FIRST]
    batch = open_batch(ledger, connection)
    service().keys.use(before, batch)
    assert "expires_at" not in stored(connection)[FIRST]
    retire(connection, after=timedelta(days=1))
    assert FIRST in stored(connection)
    service().keys.let_go(connection, batch)
    retire(connection)
    retire(connection, after=timedelta(hours=2))
    assert list(stored(connection)) == [SECOND]


def test_a_job_that_is_noted_while_others_look_keeps_its_key(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(ledger, "openai")
    before = connection_of(connection)
    batch = open_batch(ledger, connection)
    update = Table.update
    keys = service().keys
    keys.let_go(connection, batch)
    noted: list[str] = []

    def updating(self: Table, pk: str, sk: str, changes: Any, **fields: Any) -> Any:
        if "expires_at" in changes and sk == FIRST and not noted:
            noted.append(sk)
            keys.use(before, batch)
        return update(self, pk, sk, changes, **fields)

    monkeypatch.setattr(Table, "update", updating)
    replace_key(ledger, connection)
    assert noted == [FIRST]
    assert "expires_at" not in stored(connection)[FIRST]


def test_what_a_killed_step_left_noted_keeps_no_key(ledger: Ledger) -> None:
    connection = connect(ledger, "openai")
    ledger.enqueue(connection, "q", model="gpt-5-mini")
    ledger.run_jobs()
    (batch,) = ledger.batches()
    service().keys.use(connection_of(connection), batch["id"])
    replace_key(ledger, connection)
    found = stored(connection)
    assert list(found) == [FIRST, SECOND]
    assert "expires_at" in found[FIRST]


def test_a_key_from_before_uses_were_noted_stays(ledger: Ledger) -> None:
    connection = connect(ledger, "openai")
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": connection}, "sk": {"S": FIRST}},
        UpdateExpression="REMOVE has_uses_noted",
    )
    replace_key(ledger, connection)
    retire(connection, after=timedelta(days=99))
    assert list(stored(connection)) == [FIRST, SECOND]
    assert "expires_at" not in stored(connection)[FIRST]


def test_the_key_of_a_connection_is_never_retired(ledger: Ledger) -> None:
    connection = ledger.connect()
    for _ in range(2):
        retire(connection, after=timedelta(days=99))
    assert list(stored(connection)) == [FIRST]
    assert "expires_at" not in stored(connection)[FIRST]


def open_batch(ledger: Ledger, connection: str) -> str:
    """Have a batch that waits to be created."""
    ledger.fake.world.traps.arm(name="create_429", times=None, params={"retry_after": 600})
    ledger.enqueue(connection, "q", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.2)
    (batch,) = ledger.batches()
    return str(batch["id"])
