"""What an organisation sees of all that happens in it, on the wire."""

from pydantic import Field

from autotune.protocol.completions import ReasonCode
from autotune.protocol.health import CircuitState
from autotune.protocol.llm_batches import LlmBudgetUse
from autotune.protocol.types import ResponseModel, Timestamp
from autotune.protocol.windows import Bucket, Window


class OpenWork(ResponseModel):
    """What is submitted and not decided.

    ``oldest_submitted_at`` and ``batches`` are of those open batches that were looked at, at most
    500; ``is_complete`` is whether that is all of the organisation's.
    """

    completions: int
    batches: int
    oldest_submitted_at: Timestamp | None
    is_complete: bool


class OpenCircuit(ResponseModel):
    """A grader of the organisation's whose circuit breaker is open or half-open.

    ``reason_code`` is what its last call failed with that found it down.
    """

    grader_id: str
    name: str
    state: CircuitState
    open_until: Timestamp | None
    last_failed_at: Timestamp | None
    reason_code: ReasonCode | None


class OverdueBatch(ResponseModel):
    """An open batch that the sweeper is to look at since ``due_at``, as it did ``sweeps`` times."""

    batch_id: str
    submitted_at: Timestamp
    due_at: Timestamp
    sweeps: int


class StuckWork(ResponseModel):
    """Open batches that are overdue, at most 20 of ``total``, those first that are so longest."""

    total: int
    batches: list[OverdueBatch]
    is_complete: bool


class Overview(ResponseModel):
    """What an organisation's completions came to, up to now, and what stands in their way.

    ``is_complete`` is whether all counts of the window were read; the earliest are left out.
    """

    window: Window
    from_: Timestamp = Field(alias="from")
    to: Timestamp
    bucket_seconds: int
    buckets: list[Bucket]
    totals: Bucket
    is_complete: bool
    open: OpenWork
    circuits: list[OpenCircuit]
    stuck: StuckWork
    budgets: list[LlmBudgetUse]


class OverviewResponse(ResponseModel):
    """An overview."""

    overview: Overview
