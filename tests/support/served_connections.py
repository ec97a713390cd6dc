"""Connections of the served ledger: providers' keys are kept, and shown by their ends."""

import json
from typing import Any

from pydantic import SecretStr

from autotune.protocol import (
    llm_connections,
)
from autotune.protocol.ids import new_id
from tests.support.served_answers import checked, now, of, page


class ServedConnections:
    """Keeps connections.

    Attributes:
        keys: the providers' keys by connection, as they came.
        works: whether a connection that is verified does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.connections: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        self.works = True

    def new_connection(self, **fields: Any) -> str:
        body = {"name": "c", "provider": "openai", "apiKey": "sk-test-0123456789", **fields}
        return str(self._create(json.dumps(body).encode(), {})["connection"]["id"])

    def _create(self, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_connections.CreateConnectionRequest.model_validate_json(body)
        found = of(self.connections, new_id("llc"), make=True)
        found |= {
            "provider": asked.provider,
            "baseUrl": asked.base_url or "https://provider.example",
            "status": "active",
            "keyVersion": 0,
            "concurrency": 8,
            "timeoutSeconds": 120,
            "batches": "never" if asked.provider == "simulated" else "unless_urgent",
            "minRows": 20,
            "maxWaitSeconds": 300,
            "createdAt": now(),
        }
        if asked.bedrock is not None:
            shown = asked.bedrock.model_dump(mode="json", by_alias=True)
            found |= {"bedrock": {**shown, "externalId": "org_own"}, "batches": "never"}
        return self._set(found, asked)

    def _update(self, connection_id: str, body: bytes, _query: Any) -> dict[str, Any]:
        found = of(self.connections, connection_id)
        return self._set(found, llm_connections.UpdateConnectionRequest.model_validate_json(body))

    def _set(self, found: dict[str, Any], asked: Any) -> dict[str, Any]:
        given = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
        given.pop("apiKey", None)
        given.pop("bedrock", None)
        for name in ("limits", "timings"):
            fields = getattr(asked, name)
            changed = fields.model_dump(by_alias=True, exclude_unset=True) if fields else {}
            merged = {**found.get(name, {}), **changed}
            given[name] = {one: value for one, value in merged.items() if value is not None}
        key: SecretStr | None = asked.api_key
        if key is not None:
            self.keys[found["id"]] = key.get_secret_value()
            given["keyVersion"] = found["keyVersion"] + 1
            given["keyEndsWith"] = key.get_secret_value()[-4:]
        found |= {**given, "updatedAt": now()}
        return {"connection": checked(llm_connections.LlmConnection, found)}

    def _list_connections(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        found, token = page(list(self.connections.values()), query)
        return {"connections": found, "nextToken": token}

    def _read_connection(self, connection_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"connection": of(self.connections, connection_id)}

    def _revoke(self, connection_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        return {"connection": of(self.connections, connection_id) | {"status": "revoked"}}

    def _verify(self, connection_id: str, body: bytes, _query: Any) -> dict[str, Any]:
        asked = llm_connections.VerifyConnectionRequest.model_validate_json(body)
        of(self.connections, connection_id)
        refused = {"errorCode": "account", "detail": "Incorrect API key provided"}
        came = {"servedModel": asked.model, "costNanoUsd": 900} if self.works else refused
        return {"works": self.works, "milliseconds": 12, **came}
