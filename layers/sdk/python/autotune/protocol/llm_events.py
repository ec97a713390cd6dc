"""Data of the ledger's events.

They are apart from other events, so that who publishes those alone does not load the ledger's.
"""

from typing import Literal

from autotune.protocol.llm_batches import (
    LlmBatchCounts,
    LlmBatchStatus,
    LlmDifference,
    LlmReported,
)
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_imports import (
    LlmImportCounts,
    LlmImportErrorCode,
    LlmImportState,
)
from autotune.protocol.periods import BudgetPeriod, BudgetScope
from autotune.protocol.types import ResponseModel, Timestamp


class LedgerBatchCompleted(ResponseModel):
    """The data of ``ledger.batch.completed``: a batch of requests to a language model has ended.

    Attributes:
        status: ``completed``, ``error`` or ``canceled``.
        unclear: calls that may have been paid although no answer came.
        above_bound: rows that the provider counted more tokens of than were reserved for.
        cost_nano_usd: what its rows cost in it, in billionths of a US dollar.
        reported: what the provider says of its job as a whole, where it does.
        difference: between that and what was charged.
    """

    batch_id: str
    status: LlmBatchStatus
    connection_id: str
    provider: LlmProvider
    model: str
    counts: LlmBatchCounts
    unclear: int
    above_bound: int = 0
    cost_nano_usd: int
    reported: LlmReported | None = None
    difference: LlmDifference | None = None
    created_at: Timestamp
    completed_at: Timestamp


class LedgerBatchNeedsOperator(ResponseModel):
    """The data of ``ledger.batch.needs_operator``: a batch does not go on by itself.

    It comes once for each creation that is unclear, and each time that looks are refused for long.

    Attributes:
        stage: ``unknown``: nobody can say whether its job was created, or several may be it, as
            ``candidates`` has them. ``polling``: the provider refuses to show the job.
        job_id: the provider's name of the job, where it is known.
    """

    batch_id: str
    connection_id: str
    provider: LlmProvider
    model: str
    stage: Literal["unknown", "polling"]
    job_id: str | None = None
    candidates: list[str] = []
    created_at: Timestamp


class LedgerImportCompleted(ResponseModel):
    """The data of ``ledger.import.completed``: an import that was started has ended.

    Its requests may still be under way: each batch of them has an event of its own.

    Attributes:
        state: ``completed``, ``failed`` or ``canceled``.
        error_code: why it failed.
        counts: of its lines; those that were enqueued stay, however it ended.
    """

    import_id: str
    state: LlmImportState
    error_code: LlmImportErrorCode | None = None
    connection_id: str
    purpose: str
    counts: LlmImportCounts
    created_at: Timestamp
    completed_at: Timestamp


class LedgerConnectionPaused(ResponseModel):
    """The data of ``ledger.connection.paused``: its provider refused its key, bill or models.

    It comes once for each pause, however many requests were refused.

    Attributes:
        paused_because: what the provider said, at most 500 characters and without the key.
    """

    connection_id: str
    name: str
    provider: LlmProvider
    paused_because: str


class LedgerConnectionResumed(ResponseModel):
    """The data of ``ledger.connection.resumed``: somebody changed it, and its requests go on.

    Attributes:
        paused_because: why it was paused.
        paused_at: since when.
    """

    connection_id: str
    name: str
    provider: LlmProvider
    paused_because: str
    paused_at: Timestamp


class _BudgetEvent(ResponseModel):
    scope: BudgetScope
    task_id: str | None = None
    task_name: str | None = None
    period: BudgetPeriod
    name: str
    limit_nano_usd: int
    spent_nano_usd: int
    reserved_nano_usd: int


class BudgetExhausted(_BudgetEvent):
    """The data of ``budget.exhausted``: a budget has no room for what was to be spent next.

    It comes once for each period, as the period was when it first had no room.

    Attributes:
        task_id: of the apprentice's task whose budget it is; it has none where it is the
            organisation's.
        name: of the period, in UTC, such as ``2026-11-24``, ``2026-W48`` or ``2026-11``.
    """


class BudgetWarning(_BudgetEvent):
    """The data of ``budget.warning``: 80 percent of a budget are spent or set aside.

    It comes once for each period, as the period is with what took it there; see
    ``BudgetExhausted``.
    """
