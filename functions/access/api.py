"""Keys; also answers every path that no other function serves."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from autotune.protocol.access import (
    CreateKeyRequest,
    CreateKeyResponse,
    KeyList,
    KeyResponse,
    UpdateKeyRequest,
)
from autotune.protocol.access import Key as WireKey
from autotune_platform.access.models import Key
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment import Environment
from autotune_platform.wiring.access import ApiParts


@cache
def parts() -> ApiParts:
    """Return what this process is put together from."""
    return ApiParts(Environment.parse())


app = Api(parts)


@app.post("/api/v1/keys", status_code=201, tags=["keys"])
def create_key(body: CreateKeyRequest) -> CreateKeyResponse:
    """Create a key in the caller's organisation; its credential is shown this once."""
    key, api_key = parts().access.create_key(app.caller, body)
    app.made(key_id=key.id)
    return CreateKeyResponse(key=_on_wire(key, {}), api_key=api_key)


@app.get("/api/v1/keys", tags=["keys"])
def list_keys(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> KeyList:
    """List the organisation's keys, oldest first."""
    keys, token = parts().access.list_keys(app.caller, limit=limit, next_token=next_token)
    uses = parts().access.last_uses(keys)
    return KeyList(keys=[_on_wire(key, uses) for key in keys], next_token=token)


@app.get("/api/v1/keys/me", tags=["keys"])
def read_own_key() -> KeyResponse:
    """Return the key that signed this request; every role may."""
    return KeyResponse(key=_on_wire(parts().access.get_key(app.caller, app.caller.key_id)))


@app.patch("/api/v1/keys/<key_id>", tags=["keys"])
def update_key(key_id: str, body: UpdateKeyRequest) -> KeyResponse:
    """Give a key another name."""
    return KeyResponse(key=_on_wire(parts().access.rename_key(app.caller, key_id, body.name)))


@app.delete("/api/v1/keys/<key_id>", tags=["keys"])
def revoke_key(key_id: str) -> KeyResponse:
    """Revoke a key for good."""
    return KeyResponse(key=_on_wire(parts().access.revoke_key(app.caller, key_id)))


def _on_wire(key: Key, uses: Mapping[str, datetime] | None = None) -> WireKey:
    uses = parts().access.last_uses([key]) if uses is None else uses
    return WireKey(
        **key.model_dump(exclude={"status", "secret_version"}),
        status=key.status_at(parts().clock.now()),
        last_used_at=uses.get(key.id),
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
