"""Data of the ledger's events.

They are apart from other events, so that who publishes those alone does not load the ledger's.
"""

from typing import Literal

from autotune.protocol.llm_batches import (
    BudgetPeriod,
    LlmBatchCounts,
    LlmBatchStatus,
    LlmDifference,
    LlmReported,
)
from autotune.protocol.llm_connections import LlmProvider
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


class BudgetExhausted(ResponseModel):
    """The data of ``budget.exhausted``: a budget has no room for what was to be spent next.

    It comes once for each period, as the period was when it first had no room.

    Attributes:
        name: of the period, in UTC, such as ``2026-11-24``, ``2026-W48`` or ``2026-11``.
    """

    scope: Literal["organization"]
    period: BudgetPeriod
    name: str
    limit_nano_usd: int
    spent_nano_usd: int
    reserved_nano_usd: int
