"""How a connection is used: what a request changes of it, and what makes no sense together."""

from typing import Any, Final

from pydantic import BaseModel

from autotune.protocol import llm_connections as wire
from autotune_platform.ledger.job_limits import OwnLimits, misfit
from autotune_platform.ledger.job_sizes import has_jobs, rows_at_least
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.timings import Timings
from autotune_platform.runtime.errors import InvalidRequestError

_NO_SETTINGS: Final = ("name", "provider", "base_url", "api_key", "bedrock", "limits", "timings")
_SETTINGS: Final = (
    "api_version",
    "prices",
    "concurrency",
    "requests_per_second",
    "timeout_seconds",
    "batches",
    "min_rows",
    "max_rows",
    "max_bytes",
    "max_wait_seconds",
    "own_limits",
    "timings",
)


def changed_settings(
    before: Connection | None,
    request: wire.CreateConnectionRequest | wire.UpdateConnectionRequest,
) -> dict[str, Any]:
    """Return the settings that a request gives a connection, by attribute.

    Args:
        before: None of a new one.
    """
    given = request.model_dump(exclude_none=True)
    settings = {name: value for name, value in given.items() if name not in _NO_SETTINGS}
    own = before.own_limits if before else OwnLimits()
    timings = before.timings if before else Timings()
    if request.limits is not None:
        settings["own_limits"] = own.model_copy(update=_given(request.limits))
    if request.timings is not None:
        merged = {**timings.model_dump(), **_given(request.timings)}
        kept = {name: value for name, value in merged.items() if value is not None}
        settings["timings"] = Timings(**kept)
    return settings


def next_version(before: Connection, after: Connection) -> Connection:
    """Return a changed connection with the version of its settings."""
    is_same = all(getattr(before, name) == getattr(after, name) for name in _SETTINGS)
    version = before.settings_version + (not is_same)
    return after.model_copy(update={"settings_version": version})


def require_sense(connection: Connection) -> None:
    """Refuse settings that cannot hold together.

    Raises:
        InvalidRequestError: it names the field.
    """
    most = connection.rows_at_most("calls" if connection.batches == "never" else "job")
    if connection.min_rows > most:
        raise InvalidRequestError.of_field(
            "minRows", f"at most maxRows, {most}, not {connection.min_rows}"
        )
    least = rows_at_least(connection, "job")
    if connection.batches != "never" and most < least:
        raise InvalidRequestError.of_field(
            "maxRows", f"at least {least}: {connection.provider} takes no smaller jobs"
        )
    if connection.bedrock and connection.batches != "never" and not connection.bedrock.bucket:
        raise InvalidRequestError.of_field(
            "bedrock.bucket", "a bucket, with batchRoleArn, for batch jobs; or batches never"
        )
    if connection.batches != "never" and not has_jobs(connection.provider):
        raise InvalidRequestError.of_field(
            "batches", f"never: {connection.provider} has no batch jobs here"
        )
    _require_limits(connection)
    timings = connection.timings
    if timings.poll_least_seconds > timings.poll_most_seconds:
        raise InvalidRequestError.of_field(
            "timings.pollLeastSeconds",
            f"at most pollMostSeconds, {timings.poll_most_seconds}, "
            f"not {timings.poll_least_seconds}",
        )


def _require_limits(connection: Connection) -> None:
    found = misfit(connection.provider, connection.own_limits)
    if found is not None:
        name, expected = found
        raise InvalidRequestError.of_field(f"limits.{name}", expected)
    rows = connection.limits.enqueued_rows
    least = max(connection.min_rows, rows_at_least(connection, "job"))
    if rows is not None and rows < least:
        raise InvalidRequestError.of_field(
            "limits.enqueuedRows", f"at least {least}, as many as a job has at the fewest"
        )


def _given(fields: BaseModel) -> dict[str, Any]:
    """Return the fields that were sent; None is back to what holds without them."""
    return {name: getattr(fields, name) for name in fields.model_fields_set}
