"""How large a job of a provider may be, how long it lasts and whether it can be canceled.

These are known without what sends jobs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from autotune.protocol.limits import MAX_LLM_BATCH_ROWS
from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.models import Connection, Mode, Row

JOB_WINDOW = timedelta(hours=24)
"""Within which the providers promise a job to end."""


@dataclass(frozen=True, kw_only=True)
class JobSizes:
    """What a provider takes in one job at most, as it documents it; a connection may lower it.

    Attributes:
        ends_within: after which a job has ended by itself, unless the connection says otherwise.
        rows_at_least: fewer are refused, and asked one by one instead.
        is_cancelable: whether the provider ends jobs when it is asked to.
    """

    rows: int
    bytes: int
    ends_within: timedelta = JOB_WINDOW
    rows_at_least: int = 1
    is_cancelable: bool = True


JOB_SIZES: Mapping[LlmProvider, JobSizes] = {
    "openai": JobSizes(rows=50_000, bytes=200_000_000),
    "azure": JobSizes(rows=100_000, bytes=200_000_000),
    "anthropic": JobSizes(rows=100_000, bytes=256_000_000),
    # Google limits a job's bytes and the tokens of all jobs, and says nothing of rows.
    "gemini": JobSizes(
        rows=MAX_LLM_BATCH_ROWS, bytes=2_000_000_000, ends_within=timedelta(hours=48)
    ),
    "openrouter": JobSizes(rows=5_000, bytes=200_000_000, is_cancelable=False),
    "bedrock": JobSizes(rows=MAX_LLM_BATCH_ROWS, bytes=1_000_000_000, rows_at_least=100),
}
"""The sizes of each provider that has jobs."""


def has_jobs(provider: LlmProvider) -> bool:
    """Return whether a provider has batch jobs."""
    return provider in JOB_SIZES


def is_cancelable(provider: LlmProvider) -> bool:
    """Return whether a provider ends batch jobs when it is asked to."""
    sizes = JOB_SIZES.get(provider)
    return sizes is not None and sizes.is_cancelable


def rows_at_most(connection: Connection, mode: Mode) -> int:
    """Return how many rows a batch of a connection may have: its own limit, or its provider's."""
    own = connection.rows_at_most(mode)
    sizes = _sizes(connection, mode)
    if sizes is None:
        return own
    return min(own, sizes.rows, connection.limits.enqueued_rows or own)


def rows_at_least(connection: Connection, mode: Mode) -> int:
    """Return how many rows a provider's job has to have; 1 where they are asked one by one."""
    sizes = _sizes(connection, mode)
    return 1 if sizes is None else sizes.rows_at_least


def rows_enough(connection: Connection, mode: Mode) -> int:
    """Return with how many rows nobody waits for more."""
    return max(connection.min_rows, rows_at_least(connection, mode))


def has_waited(row: Row, connection: Connection, now: datetime) -> bool:
    """Return whether a row that is asked by itself has waited for others before.

    Who was put back has, or was in a batch with them. A row of a job waits anew: what is asked by
    itself in the end costs more.
    """
    since = row.created_at + timedelta(seconds=connection.max_wait_seconds)
    return row.mode == "calls" and (row.attempt > 1 or since <= now)


def ends_within(connection: Connection) -> timedelta:
    """Return after which time a job of a connection has ended by itself."""
    if connection.bedrock is not None:
        return timedelta(hours=connection.bedrock.job_hours)
    sizes = _sizes(connection)
    return JOB_WINDOW if sizes is None else sizes.ends_within


def job_window(connection: Connection) -> timedelta:
    """Return within which time results of a job of a connection are promised."""
    return ends_within(connection) if connection.bedrock is not None else JOB_WINDOW


def bytes_at_most(connection: Connection) -> int:
    """Return how many bytes the input of a job of a connection may have."""
    own, sizes = connection.bytes_at_most, _sizes(connection)
    return own if sizes is None else min(own, sizes.bytes)


def _sizes(connection: Connection, mode: Mode = "job") -> JobSizes | None:
    return JOB_SIZES.get(connection.provider) if mode == "job" else None
