"""Batches of requests to language models on the wire, and what they cost."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits
from autotune.protocol.llm_connections import LlmProvider, UsdAmount
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmError, LlmRequestSummary
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp, at_most

LlmBatchStatus = Literal["queued", "submitted", "completed", "error", "canceled"]


class LlmBatchCounts(ResponseModel):
    """Rows of a batch by what became of them in it.

    ``requeued`` failed for a passing reason and wait for a later batch.
    """

    rows: int
    completed: int = 0
    error: int = 0
    canceled: int = 0
    requeued: int = 0

    @property
    def pending(self) -> int:
        """Rows without an end in this batch."""
        return self.rows - self.completed - self.error - self.canceled - self.requeued


class LlmBatch(ResponseModel):
    """One job: rows of one connection and model that were sent together.

    Attributes:
        reserved_nano_usd: what is set aside for rows that are still without an end.
        cost_nano_usd: what its rows cost so far; None where a price is unknown.
    """

    id: str
    connection_id: str
    provider: LlmProvider
    model: str
    status: LlmBatchStatus
    counts: LlmBatchCounts
    reserved_nano_usd: int
    cost_nano_usd: int | None = None
    error: LlmError | None = None
    created_at: Timestamp
    submitted_at: Timestamp | None = None
    completed_at: Timestamp | None = None


class LlmBatchResponse(ResponseModel):
    """One batch."""

    batch: LlmBatch


class LlmBatchList(ResponseModel):
    """A page of batches, the youngest first."""

    batches: list[LlmBatch]
    next_token: str | None = None


class LlmBatchRows(ResponseModel):
    """A page of a batch's rows, in the order in which they were taken from the queue."""

    requests: list[LlmRequestSummary]
    next_token: str | None = None


BudgetPeriod = Literal["day", "week", "month"]


class LlmBudgetLimits(RequestModel):
    """Most US dollars of a period, which begins in UTC; None is no limit. Weeks begin on Monday."""

    day_usd: UsdAmount | None = None
    week_usd: UsdAmount | None = None
    month_usd: UsdAmount | None = None


class LlmBudgetUse(ResponseModel):
    """What a period has used.

    ``spent`` and ``reserved`` together never exceed the limit at any moment of a reservation.
    """

    period: BudgetPeriod
    name: str
    limit_nano_usd: int | None = None
    spent_nano_usd: int
    reserved_nano_usd: int


class LlmBudget(ResponseModel):
    """An organisation's budget for language models, and what its present periods have used."""

    limits: LlmBudgetLimits
    periods: list[LlmBudgetUse]


class EstimateLlmRequests(RequestModel):
    """Requests that are estimated; nothing is stored and nothing is sent."""

    requests: Annotated[
        list[EnqueueLlmRequest],
        at_most(limits.MAX_LLM_ROWS),
        Field(min_length=1, max_length=limits.MAX_LLM_ROWS),
    ]


class LlmEstimate(ResponseModel):
    """What requests cost at most: as many tokens as bytes of input, and ``maxTokens`` of output.

    ``fits`` is whether the budget has room for all of it now.
    """

    rows: int
    input_bytes: int
    bound_nano_usd: int
    fits: bool


LlmCostGroup = Literal["model", "purpose", "connection"]


class LlmCost(ResponseModel):
    """What one group cost on one day."""

    day: str
    group: str
    rows: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_nano_usd: int
    unpriced_rows: int = 0


class LlmCosts(ResponseModel):
    """Costs by day and group, oldest first."""

    group_by: LlmCostGroup
    costs: list[LlmCost]
