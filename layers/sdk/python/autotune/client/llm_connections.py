"""``client.llm.connections``: where language models are called, and with whose key."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Unpack

from pydantic import SecretStr

from autotune.client.arguments import (
    AbsentT,
    NotGiven,
    change_of,
    fields_of,
    not_given,
    request_of,
)
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import (
    Call,
    CallOptions,
    Listing,
    call,
    listing,
    returning,
    split_options,
)
from autotune.protocol import llm_connections as wire
from autotune.protocol.llm_bedrock import BedrockSettings
from autotune.protocol.llm_limits import ConnectionLimits, ConnectionTimings
from autotune.protocol.types import RequestModel

_connection = returning(wire.LlmConnectionResponse, lambda answer: answer.connection)
_revoked = returning(wire.RevokedLlmConnectionResponse, lambda answer: answer.connection)
_connections = returning(wire.LlmConnectionList, lambda page: (page.connections, page.next_token))
_verification = returning(wire.ConnectionVerification)


class ConnectionFields(CallOptions, Generic[AbsentT], total=False):
    """How a connection is used; ``AbsentT`` is the type of a field that is left out."""

    api_key: str | SecretStr | AbsentT
    api_version: str | AbsentT
    prices: Mapping[str, wire.ModelPrice | Mapping[str, str]] | AbsentT
    concurrency: int | AbsentT
    requests_per_second: float | AbsentT
    timeout_seconds: int | AbsentT
    batches: wire.Batches | AbsentT
    min_rows: int | AbsentT
    max_rows: int | AbsentT
    max_bytes: int | AbsentT
    max_wait_seconds: int | AbsentT
    limits: ConnectionLimits | Mapping[str, Any] | AbsentT
    timings: ConnectionTimings | Mapping[str, int | None] | AbsentT


def create_connection(
    *,
    name: str,
    provider: wire.LlmProvider,
    base_url: str | None = None,
    bedrock: BedrockSettings | Mapping[str, Any] | None = None,
    **options: Unpack[ConnectionFields[None]],
) -> Call[wire.LlmConnection]:
    """Store where a provider's models are called; its key is encrypted, and never returned.

    Args:
        provider: ``openai``, ``azure``, ``anthropic``, ``gemini``, ``openrouter``, ``bedrock``, or
            ``simulated`` for any endpoint with OpenAI's chat completions.
        base_url: where the API begins; the provider's own by default. ``azure`` and ``simulated``
            need it.
        bedrock: of ``bedrock`` alone: ``region`` and ``role_arn``, and for batch jobs
            ``batch_role_arn`` and ``bucket``, with ``prefix`` and ``job_hours`` (24 to 168) if
            wanted. The trust policy of the role has to demand the ``bedrock.external_id`` that is
            returned.
        api_key: the provider's key; all but ``bedrock`` and ``simulated`` need one.
        api_version: the version of Azure's API.
        prices: of models by name, in place of published ones, in US dollars for a million tokens,
            such as ``{"llama": {"input_usd": "0", "output_usd": "0"}}``.
        concurrency: most calls at the same time, 1 to 64; default 8.
        requests_per_second: most single calls in a second, 0.01 to 1,000; no limit by default.
        timeout_seconds: how long one call may take, 1 to 240; default 120.
        batches: which requests go in batch jobs of the provider, at its price for these:
            ``unless_urgent`` (the default), ``always``, or ``never``, as of ``simulated`` ones.
        min_rows: as many queued requests make a batch at once, 1 to 50,000; default 20. A job of
            ``bedrock`` has at least 100.
        max_rows: most requests of a batch, 1 to 50,000; default 10,000 of a job, else 500.
        max_bytes: most bytes of a job's input, up to 200,000,000; default 50,000,000.
        max_wait_seconds: fewer requests make a batch after this time, up to 86,400; default 300.
        limits: what the provider's jobs may be together, such as ``{"open_jobs": 20,
            "enqueued_tokens": {"gpt-5": 900_000}}``, with ``enqueued_rows`` and
            ``creations_per_hour``; the provider's own without them.
        timings: how long is waited for what of a job, such as ``{"poll_most_seconds": 300}``; see
            ``autotune.protocol.llm_limits.ConnectionTimings``.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: the base URL leads nowhere that may be called.
        ConflictError: the organisation has as many connections as it may.
    """
    fields, call_options = _split(options)
    request = request_of(
        wire.CreateConnectionRequest,
        name=name,
        provider=provider,
        base_url=base_url,
        bedrock=fields_of(bedrock),
        **fields,
    )
    return call(
        "POST", "llm-connections", read=_connection, body=_with_key(request), **call_options
    )


def list_connections(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.LlmConnection]:
    """Walk through the organisation's connections, oldest first, revoked ones included.

    Args:
        page_size: connections fetched at a time, 1 to 200.
    """
    return listing("llm-connections", read=_connections, page_size=page_size, **options)


def get_connection(connection_id: str, **options: Unpack[CallOptions]) -> Call[wire.LlmConnection]:
    """Read a connection, without its key.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "llm-connections", connection_id, read=_connection, **options)


def update_connection(
    connection_id: str,
    *,
    name: str | NotGiven = not_given,
    **options: Unpack[ConnectionFields[NotGiven]],
) -> Call[wire.LlmConnection]:
    """Change what is given; a paused connection is taken up again, whatever is changed.

    Args:
        api_key: the next version of the key; calls under way finish with the old key.
        prices: all of the connection's own prices, in place of those that it had.
        limits: fields that are left out stay, and None is back to the provider's;
            ``enqueued_tokens`` are all that there are then.
        timings: fields that are left out stay, and None is back to the default.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is none in this organisation.
        ConflictError: it is revoked, or was changed at the same time.
    """
    fields, call_options = _split(options)
    request = change_of(wire.UpdateConnectionRequest, name=name, **fields)
    return call(
        "PATCH",
        "llm-connections",
        connection_id,
        read=_connection,
        body=_with_key(request),
        **call_options,
    )


def revoke_connection(
    connection_id: str, **options: Unpack[CallOptions]
) -> Call[wire.RevokedLlmConnection]:
    """Revoke a connection for good and delete its key; what is queued for it ends as an error.

    Up to 20 jobs of the provider are asked to end before. ``jobs`` of what is returned says of each
    whether it was; one that was not goes on, and is paid.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "llm-connections", connection_id, read=_revoked, **options)


def verify_connection(
    connection_id: str, *, model: str, **options: Unpack[CallOptions]
) -> Call[wire.ConnectionVerification]:
    """Ask a model one short question and return what came of it; it is paid like any other.

    Raises:
        InvalidRequestError: there is no such connection, or no price of the model is known.
        APIError: 402 ``budget_exhausted``, the budget has no room for it.
    """
    request = request_of(wire.VerifyConnectionRequest, model=model)
    return call(
        "POST",
        "llm-connections",
        connection_id,
        "verify",
        read=_verification,
        body=request,
        **options,
    )


def _split(options: CallOptions) -> tuple[dict[str, Any], CallOptions]:
    """Return a connection's fields apart from the options of the call."""
    fields, call_options = split_options(options)
    prices = fields.get("prices")
    if isinstance(prices, Mapping):
        fields["prices"] = {model: fields_of(price) for model, price in prices.items()}
    for name in ("limits", "timings"):
        if name in fields:
            fields[name] = fields_of(fields[name])
    return fields, call_options


def _with_key(request: RequestModel) -> bytes:
    """Serialise a request together with its key, which pydantic would mask."""
    fields = request.model_dump(mode="json", by_alias=True, exclude_unset=True)
    key: SecretStr | None = getattr(request, "api_key", None)
    if key is not None:
        fields["apiKey"] = key.get_secret_value()
    return json.dumps(fields, ensure_ascii=False).encode()


class LlmConnectionMethods:
    """Methods of connections."""

    _place: ClassVar = "llm.connections"

    create = Method(create_connection)
    list = ListMethod(list_connections)
    get = Method(get_connection)
    update = Method(update_connection)
    revoke = Method(revoke_connection)
    verify = Method(verify_connection)


class LlmConnections(LlmConnectionMethods, Resource):
    """Connections, blocking."""


class AsyncLlmConnections(LlmConnectionMethods, AsyncResource):
    """Connections, for an event loop."""
