"""How a row is sent: in a batch job of the provider, or in a call of its own."""

from datetime import datetime

from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.job_limits import enqueued_tokens
from autotune_platform.ledger.job_sizes import has_jobs, job_window
from autotune_platform.ledger.models import Connection, Mode
from autotune_platform.ledger.providers.registry import unsupported_in_batch
from autotune_platform.runtime.errors import InvalidRequestError


def mode_of(
    params: LlmParams, connection: Connection, within: str, *, by: datetime | None, now: datetime
) -> Mode:
    """Return how a row is sent: by itself where a job would be too late, or has no such field.

    Args:
        within: what is before the names of the request's fields in an error.
        by: its ``completeBy``.

    Raises:
        InvalidRequestError: a job does not take it, and all rows are to go in jobs.
    """
    refused = unsupported_in_jobs(params, connection, by=by, now=now)
    if refused is not None:
        raise InvalidRequestError.of_field(
            f"{within}params.{refused}",
            "left out, or batches of the connection unless_urgent or never",
            detail=f"batch jobs of {connection.provider} do not take it",
        )
    mode = _usual_mode(by, connection, now)
    if mode == "job" and unsupported_in_batch(connection.provider, params) is not None:
        return "calls"
    return mode


def unsupported_in_jobs(
    params: LlmParams, connection: Connection, *, by: datetime | None, now: datetime
) -> str | None:
    """Return the first field that jobs do not take, where all rows are to go in jobs."""
    if connection.batches != "always" or _usual_mode(by, connection, now) == "calls":
        return None
    return unsupported_in_batch(connection.provider, params)


def _usual_mode(by: datetime | None, connection: Connection, now: datetime) -> Mode:
    """Return how a row is sent: one that a job would be too late for by itself, if it may."""
    if connection.batches == "never" or not has_jobs(connection.provider):
        return "calls"
    is_urgent = by is not None and by < now + job_window(connection)
    return "calls" if is_urgent and connection.batches == "unless_urgent" else "job"


def require_room(
    connection: Connection, model: str, input_bytes: int, messages: int, field: str
) -> None:
    """Refuse a row that alone is more than jobs of the connection may have: it would never go.

    Raises:
        InvalidRequestError: it is; the field is named as it is given here.
    """
    most = connection.limits.enqueued_tokens.get(model)
    tokens = enqueued_tokens(input_bytes, messages)
    if most is not None and tokens > most:
        raise InvalidRequestError.of_field(
            field,
            f"at most {most} tokens, a byte as one and 128 for each message",
            detail=f"{tokens} tokens are more than limits.enqueuedTokens of the connection, {most}",
        )
