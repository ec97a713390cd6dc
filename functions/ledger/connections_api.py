"""Connections: where language models are called, and with whose key; and tokens to ask there.

Its own function, because it is the one of the API that encrypts keys, and asks providers with them:
to try one, and to look at a job before it is adopted.
"""

from functools import cache
from typing import Any

from autotune.protocol.llm_batches import LlmBatchResponse, ResolveLlmBatchRequest
from autotune.protocol.llm_connections import (
    ConnectionVerification,
    CreateConnectionRequest,
    LlmConnectionList,
    LlmConnectionResponse,
    RevokedLlmConnectionResponse,
    UpdateConnectionRequest,
    VerifyConnectionRequest,
)
from autotune.protocol.llm_tokens import (
    CreateLlmTokenRequest,
    CreateLlmTokenResponse,
    LlmTokenList,
    LlmTokenResponse,
)
from autotune_platform.budgets.waiting import VERIFICATIONS_AT_ONCE
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.ledger.connections import connection_on_wire
from autotune_platform.ledger.verifying import LONGEST_SECONDS
from autotune_platform.runtime.environment.ledger import ConnectionApiEnvironment
from autotune_platform.wiring.connections_api import ConnectionApiParts


@cache
def parts() -> ConnectionApiParts:
    """Return what this process is put together from."""
    return ConnectionApiParts(ConnectionApiEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/llm-connections", status_code=201, tags=["language models"])
def create_connection(body: CreateConnectionRequest) -> LlmConnectionResponse:
    """Store where a provider's models are called; its key is encrypted, and never shown again."""
    connection = parts().llm_connections.create(app.caller, body)
    app.made(connection_id=connection.id)
    return LlmConnectionResponse(connection=connection_on_wire(connection))


@app.get("/api/v1/llm-connections", tags=["language models"])
def list_connections(limit: PageSize = 50, next_token: NextToken = None) -> LlmConnectionList:
    """List the organisation's connections, oldest first, those that were revoked too."""
    app.require_known_parameters()
    found, token = parts().llm_connections.list(app.caller, limit=limit, next_token=next_token)
    return LlmConnectionList(
        connections=[connection_on_wire(one) for one in found], next_token=token
    )


@app.get("/api/v1/llm-connections/<connection_id>", tags=["language models"])
def read_connection(connection_id: str) -> LlmConnectionResponse:
    """Return a connection, without its key."""
    found = parts().llm_connections.get(app.caller, connection_id)
    return LlmConnectionResponse(connection=connection_on_wire(found))


@app.patch("/api/v1/llm-connections/<connection_id>", tags=["language models"])
def update_connection(connection_id: str, body: UpdateConnectionRequest) -> LlmConnectionResponse:
    """Change a connection; a paused one is taken up again."""
    changed = parts().llm_connections.update(app.caller, connection_id, body)
    return LlmConnectionResponse(connection=connection_on_wire(changed))


@app.delete("/api/v1/llm-connections/<connection_id>", tags=["language models"])
def revoke_connection(connection_id: str) -> RevokedLlmConnectionResponse:
    """Revoke a connection and delete its key; what is queued for it ends as an error.

    Up to 20 jobs of the provider are asked to end before, within ten seconds together. ``jobs`` has
    each that was under way, and why it goes on where it could not be asked; ``moreJobs`` is that
    there was no time to look through all batches. While four requests of the organisation wait for
    providers, none is asked to end. It is revoked in any case.
    """
    with parts().waiting.place(
        app.caller.organization_id, LONGEST_SECONDS, most=VERIFICATIONS_AT_ONCE
    ) as may_ask:
        revoked = parts().revoking.revoke(app.caller, connection_id, may_ask=may_ask)
    return RevokedLlmConnectionResponse(connection=revoked)


@app.post("/api/v1/llm-connections/<connection_id>/verify", tags=["language models"])
def verify_connection(connection_id: str, body: VerifyConnectionRequest) -> ConnectionVerification:
    """Ask a model one short question, and say what came of it; it is paid like any other."""
    with parts().waiting.verification(app.caller, LONGEST_SECONDS, what="connections"):
        return parts().verifying.verify(app.caller, connection_id, body.model)


@app.post("/api/v1/llm-batches/<llm_batch_id>/resolve", tags=["language models"])
def resolve_llm_batch(llm_batch_id: str, body: ResolveLlmBatchRequest) -> LlmBatchResponse:
    """Say what became of a creation that is unclear: adopt a job, or have one created anew.

    It is for batches whose ``job`` has ``candidates``; others are resolved by themselves. A job is
    looked at before it is adopted: 409 where the provider does not show it, or another model or
    number of requests. As long as one that was adopted cannot be seen, say again which it is. One
    is created anew only after a job that there may be would be visible: 409 says from when.
    """
    with parts().waiting.verification(app.caller, LONGEST_SECONDS, what="connections"):
        batch = parts().resolving.resolve(app.caller, llm_batch_id, body)
    return LlmBatchResponse(batch=batch)


@app.post("/api/v1/llm-tokens", status_code=201, tags=["language models"])
def create_token(body: CreateLlmTokenRequest) -> CreateLlmTokenResponse:
    """Make what the openai package takes as its key for ``/v1``; it is shown this once."""
    token, secret = parts().llm_tokens.create(app.caller, body)
    app.made(llm_token_id=token.id)
    (shown,) = parts().llm_tokens.on_wire(token)
    return CreateLlmTokenResponse(llm_token=shown, secret=secret)


@app.get("/api/v1/llm-tokens", tags=["language models"])
def list_tokens(limit: PageSize = 50, next_token: NextToken = None) -> LlmTokenList:
    """List the organisation's tokens, oldest first, those that were revoked too."""
    app.require_known_parameters()
    found, token = parts().llm_tokens.list(app.caller, limit=limit, next_token=next_token)
    return LlmTokenList(llm_tokens=list(parts().llm_tokens.on_wire(*found)), next_token=token)


@app.get("/api/v1/llm-tokens/<llm_token_id>", tags=["language models"])
def read_token(llm_token_id: str) -> LlmTokenResponse:
    """Return one token, without what lets in."""
    (shown,) = parts().llm_tokens.on_wire(parts().llm_tokens.get(app.caller, llm_token_id))
    return LlmTokenResponse(llm_token=shown)


@app.delete("/api/v1/llm-tokens/<llm_token_id>", tags=["language models"])
def revoke_token(llm_token_id: str) -> LlmTokenResponse:
    """Revoke a token at once and for good; what was asked with it before goes on."""
    (shown,) = parts().llm_tokens.on_wire(parts().llm_tokens.revoke(app.caller, llm_token_id))
    return LlmTokenResponse(llm_token=shown)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
