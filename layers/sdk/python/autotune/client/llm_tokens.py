"""``client.llm.tokens``: what programs that know OpenAI's API take as their key."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.filters import with_zone
from autotune.protocol import llm_tokens as wire

_created = returning(wire.CreateLlmTokenResponse)
_token = returning(wire.LlmTokenResponse, lambda answer: answer.llm_token)
_tokens = returning(wire.LlmTokenList, lambda page: (page.llm_tokens, page.next_token))


def create_token(
    *,
    name: str,
    connection_id: str | None = None,
    apprentice_task: str | None = None,
    purpose: str | None = None,
    scopes: Sequence[wire.LlmTokenScope] = ("read", "write"),
    expires_at: datetime | None = None,
    retention_days: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.CreateLlmTokenResponse]:
    """Make a token, whose ``secret`` is in the answer this once.

    ``openai.OpenAI(base_url=f"{api}/v1", api_key=secret)`` works with it unchanged; what it asks
    goes to the connection and is paid there, or is answered by a task of the apprentice: one of the
    two.

    Args:
        connection_id: what may be asked.
        apprentice_task: the name of a task, which alone may be asked then, as the model
            ``apprentice/NAME``. Deleting the task ends the token.
        purpose: what requests to a connection are for, as ``costs`` groups them; without it,
            ``openai_batch``.
        scopes: ``write`` asks, uploads and deletes files, creates and cancels batches; ``read`` the
            rest.
        expires_at: when it stops working, local time without a zone; without it, once it is
            revoked.
        retention_days: days after which texts of requests to a connection go, 1 to 3650; without
            it, they stay until they are deleted.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such connection or task, it is revoked, or the expiry has
            passed.
    """
    request = request_of(
        wire.CreateLlmTokenRequest,
        name=name,
        connection_id=connection_id,
        apprentice_task=apprentice_task,
        purpose=purpose,
        scopes=list(scopes),
        expires_at=with_zone(expires_at),
        retention_days=retention_days,
    )
    return call("POST", "llm-tokens", read=_created, body=request, **options)


def list_tokens(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.LlmToken]:
    """Walk through the organisation's tokens, revoked ones included, without what lets in.

    Args:
        page_size: tokens fetched at a time, 1 to 200.
    """
    return listing("llm-tokens", read=_tokens, page_size=page_size, **options)


def get_token(token_id: str, **options: Unpack[CallOptions]) -> Call[wire.LlmToken]:
    """Read one token, without what lets in.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "llm-tokens", token_id, read=_token, **options)


def revoke_token(token_id: str, **options: Unpack[CallOptions]) -> Call[wire.LlmToken]:
    """Revoke a token, at once and for good; what was asked with it before goes on.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "llm-tokens", token_id, read=_token, **options)


class LlmTokenMethods:
    """Methods of tokens."""

    _place: ClassVar = "llm.tokens"

    create = Method(create_token)
    list = ListMethod(list_tokens)
    get = Method(get_token)
    revoke = Method(revoke_token)


class LlmTokens(LlmTokenMethods, Resource):
    """Tokens, blocking."""


class AsyncLlmTokens(LlmTokenMethods, AsyncResource):
    """Tokens, for an event loop."""
