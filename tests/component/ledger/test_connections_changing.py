"""Connections that change while others change them: a revoked one stays so, without a key."""

from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.llm_connections import UpdateConnectionRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.connections import ConnectionService, pause
from autotune_platform.ledger.models import Connection
from tests.support.ledger import Ledger


def stored_keys(connection_id: str) -> list[str]:
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    found = [(one["pk"]["S"], one["sk"]["S"]) for one in items]
    keys = (sk for pk, sk in found if pk == connection_id and sk.startswith("key#"))
    # Which version a job needs is noted beside them.
    return sorted(sk for sk in keys if not sk.startswith("key#used#"))


def service() -> ConnectionService:
    parts = import_module("functions.ledger.connections_api").parts()
    found: ConnectionService = parts.llm_connections
    return found


def caller_of(connection: Connection) -> Caller:
    return Caller(
        key_id=new_id("key"),
        organization_id=connection.organization_id,
        principal_id="other",
        role="admin",
        request_id=new_id("req"),
    )


def read(ledger: Ledger, connection_id: str) -> dict[str, Any]:
    path = f"/api/v1/llm-connections/{connection_id}"
    found: dict[str, Any] = ledger.platform.call("GET", path).json["connection"]
    return found


def test_a_paused_connection_is_revoked_and_its_key_deleted(ledger: Ledger) -> None:
    connection = ledger.connect()
    assert read(ledger, connection)["status"] == "active"
    found = service().repository.get(connection)
    assert found is not None
    pause(service().repository, found, "the key is wrong", datetime.now(UTC))
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
    pause(connections.repository, before, "the key is wrong", datetime.now(UTC))
    assert read(ledger, connection)["status"] == "revoked"


def test_two_keys_at_once_leave_the_one_of_the_change_that_came_first(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.fake.world.keys["compatible"] = {"winning-key": "main"}
    connection = ledger.connect()
    path = f"/api/v1/llm-connections/{connection}"
    replace = ConnectionRepository.replace
    others: list[str] = []

    def replaced(self: Any, before: Any, after: Any) -> bool:
        if not others:
            others.append("winning-key")
            request = UpdateConnectionRequest.model_validate({"apiKey": "winning-key"})
            service().update(caller_of(before), before.id, request)
        return replace(self, before, after)

    monkeypatch.setattr(ConnectionRepository, "replace", replaced)
    answer = ledger.platform.call("PATCH", path, {"apiKey": "losing-key-losing"})
    assert answer.status == 409, answer.text
    assert stored_keys(connection) == ["key#000001", "key#000003"]
    verified = ledger.platform.call("POST", f"{path}/verify", {"model": "small"}).json
    assert verified["works"], verified


def test_a_key_that_comes_after_the_revocation_is_not_kept(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    path = f"/api/v1/llm-connections/{connection}"
    replace = ConnectionRepository.replace

    def replaced(self: Any, before: Any, after: Any) -> bool:
        service().revoke(caller_of(before), before.id)
        return replace(self, before, after)

    with monkeypatch.context() as patched:
        patched.setattr(ConnectionRepository, "replace", replaced)
        assert ledger.platform.call("PATCH", path, {"apiKey": "another-key"}).status == 409
    assert read(ledger, connection)["status"] == "revoked"
    assert stored_keys(connection) == []


def test_null_resets_what_has_a_default_and_is_refused_by_field_elsewhere(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=50, maxBytes=2_000_000, apiVersion="2026-01-01")
    path = f"/api/v1/llm-connections/{connection}"
    reset = {"maxRows": None, "maxBytes": None, "apiVersion": None}
    assert read(ledger, connection)["maxRows"] == 50
    assert ledger.platform.call("PATCH", path, reset).status == 200
    assert not {name for name in reset if read(ledger, connection).get(name) is not None}
    for field in ("name", "apiKey", "prices", "concurrency", "minRows", "batches"):
        answer = ledger.platform.call("PATCH", path, {field: None})
        assert (answer.status, list(answer.fields)) == (422, [field])


def test_an_arn_is_refused_in_place_of_a_key(ledger: Ledger) -> None:
    connection = ledger.connect()
    before = stored_keys(connection)
    path = f"/api/v1/llm-connections/{connection}"
    arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:openai"
    body = {"name": "a", "provider": "openai", "apiKey": arn}
    for method, where, given in (
        ("POST", "/api/v1/llm-connections", body),
        ("PATCH", path, {"apiKey": arn}),
    ):
        answer = ledger.platform.call(method, where, given)
        assert (answer.status, list(answer.fields)) == (422, ["apiKey"])
        assert "not supported" in answer.text
        assert arn not in answer.text
    assert stored_keys(connection) == before
