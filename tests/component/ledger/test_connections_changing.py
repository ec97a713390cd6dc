"""Connections that change while others change them: a revoked one stays so, without a key."""

from importlib import import_module
from typing import Any

import boto3

from autotune_platform.ledger.connections import ConnectionService, pause
from tests.support.ledger import Ledger


def stored_keys(connection_id: str) -> list[str]:
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    found = [(one["pk"]["S"], one["sk"]["S"]) for one in items]
    return sorted(sk for pk, sk in found if pk == connection_id and sk.startswith("key#"))


def service() -> ConnectionService:
    parts = import_module("functions.ledger.connections_api").parts()
    found: ConnectionService = parts.llm_connections
    return found


def read(ledger: Ledger, connection_id: str) -> dict[str, Any]:
    path = f"/api/v1/llm-connections/{connection_id}"
    found: dict[str, Any] = ledger.platform.call("GET", path).json["connection"]
    return found


def test_a_paused_connection_is_revoked_and_its_key_deleted(ledger: Ledger) -> None:
    connection = ledger.connect()
    assert read(ledger, connection)["status"] == "active"
    found = service().repository.get(connection)
    assert found is not None
    pause(service().repository, found, "the key is wrong")
    assert read(ledger, connection)["status"] == "paused"
    answer = ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    assert (answer.status, read(ledger, connection)["status"]) == (200, "revoked")
    assert stored_keys(connection) == []


def test_a_pause_that_comes_too_late_leaves_a_connection_revoked(ledger: Ledger) -> None:
    connection = ledger.connect()
    connections = service()
    before = connections.repository.get(connection)
    assert before is not None
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    pause(connections.repository, before, "the key is wrong")
    assert read(ledger, connection)["status"] == "revoked"
