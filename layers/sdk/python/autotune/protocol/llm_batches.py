"""Batches of requests to language models on the wire, and what they cost."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from autotune.protocol import limits
from autotune.protocol.llm_connections import LlmProvider, UsdAmount
from autotune.protocol.llm_limits import JobLimitName
from autotune.protocol.llm_requests import (
    EnqueueLlmRequest,
    LlmBatchMode,
    LlmError,
    LlmRequestSummary,
)
from autotune.protocol.periods import BudgetPeriod
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp, at_most

LlmBatchStatus = Literal["queued", "submitted", "completed", "error", "canceled"]


class LlmBatchCounts(ResponseModel):
    """Rows of a batch by what became of them in it.

    ``released`` left it without an end: they wait for a later batch, or another took them.
    """

    rows: int
    completed: int = 0
    error: int = 0
    canceled: int = 0
    released: int = 0


class LlmJob(ResponseModel):
    """A batch as its provider has it.

    Attributes:
        id: the provider's name of it, once it is known.
        stage: what is being done; ``unknown`` is to find out whether it was created.
        rows: how many rows were sent.
        stored: how many rows' results came home.
        bytes: how long the input is.
        nonce: names the creation at the provider, where that keeps a name of ours: ``metadata`` at
            OpenAI and Azure, the display name at Gemini, part of the job's name at Bedrock.
        input_file: the provider's name of the uploaded input.
        key_version: of the connection's key that sees it.
        candidates: of several jobs one may be it, or the only one is noted as another batch's; an
            operator is to say which (``resolve``).
        cost_nano_usd: what the provider says that it costs, where it does.
    """

    id: str | None = None
    stage: str
    rows: int
    stored: int = 0
    bytes: int = 0
    nonce: str | None = None
    input_file: str | None = None
    key_version: int | None = None
    candidates: list[str] = []
    cost_nano_usd: int | None = None


class LlmReportedUsage(ResponseModel):
    """Tokens of all rows together as the provider counted them; None is what it does not tell."""

    input_tokens: int
    cached_input_tokens: int | None = None
    output_tokens: int


class LlmReported(ResponseModel):
    """What the provider reports of a job as a whole, as far as it does."""

    usage: LlmReportedUsage | None = None
    cost_nano_usd: int | None = None


class LlmDifference(ResponseModel):
    """What the provider reports of a job, less what its rows were charged; 0 where all is right.

    Attributes:
        input_tokens: None, as the others, where the provider does not report it.
        assumed_rows: rows that were charged at their bound, because nobody said what they used. The
            provider may report less by up to as much.
        dropped_results: results that came twice, late or unreadable, or were of no row of it.
        within_tolerance: whether that explains it, and a nano-USD for each row, whose cost is
            rounded. Where it does not, operators get an alarm.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    cost_nano_usd: int | None = None
    assumed_rows: int = 0
    dropped_results: int = 0
    within_tolerance: bool


class LlmJobProgress(ResponseModel):
    """How far a provider's job was at the last look, as the provider counts.

    Attributes:
        completed: rows with an answer.
        failed: rows that will have none.
        rows: how many there are.
        at: when it was looked at.
    """

    completed: int
    failed: int
    rows: int
    at: Timestamp


class LlmBatch(ResponseModel):
    """Rows of one connection and model that were sent together.

    Attributes:
        job: the provider's, of a batch that is one.
        settings_version: of the connection's settings, when the batch was made.
        status: ``completed`` is one that is over, also if all its rows were released without an
            end: see ``counts``.
        input_tokens: how many tokens of input a job is estimated at, never too few: each byte is
            one, and each message 128 more.
        counted_tokens: as how many of ``enqueuedTokens`` the job is counted, once it is.
        waiting_for: the limit of the connection that has no room for it; it goes on by itself.
        progress: how far that is, where the provider tells; stored with the looks at it.
        unclear: calls that may have been paid although no answer came.
        above_bound: rows that the provider counted more tokens of than were reserved for; they are
            charged at what they cost, and a budget may be overspent by as much.
        reserved_nano_usd: what is set aside for it until it has ended.
        cost_nano_usd: what its rows cost so far, in billionths of a US dollar.
        reported: what the provider says of its job as a whole, once that has ended.
        difference: between that and what was charged, once the batch has ended.
        cancel_detail: why it goes on although it was canceled, where the provider cancels no jobs.
    """

    id: str
    connection_id: str
    provider: LlmProvider
    model: str
    mode: LlmBatchMode = "calls"
    job: LlmJob | None = None
    progress: LlmJobProgress | None = None
    status: LlmBatchStatus
    counts: LlmBatchCounts
    settings_version: int = 1
    input_tokens: int | None = None
    counted_tokens: int | None = None
    waiting_for: JobLimitName | None = None
    unclear: int = 0
    above_bound: int = 0
    reserved_nano_usd: int
    cost_nano_usd: int
    reported: LlmReported | None = None
    difference: LlmDifference | None = None
    error: LlmError | None = None
    cancel_requested_at: Timestamp | None = None
    cancel_detail: str | None = None
    created_at: Timestamp
    submitted_at: Timestamp | None = None
    completed_at: Timestamp | None = None


class ResolveLlmBatchRequest(RequestModel):
    """What became of a creation that is unclear.

    ``adopt`` takes ``job_id`` for the batch's job, if the provider shows it; ``resubmit`` says that
    there is none, and has it created anew: where there is one after all, its rows are paid twice.
    """

    action: Literal["adopt", "resubmit"]
    job_id: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")] | None = None

    @model_validator(mode="after")
    def _job_of_adoption(self) -> Self:
        if (self.action == "adopt") != (self.job_id is not None):
            raise ValueError("jobId: adopt needs it, and resubmit has none")
        return self


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

    most_values: ClassVar[int] = limits.MAX_LLM_ROWS_VALUES

    requests: Annotated[
        list[EnqueueLlmRequest],
        at_most(limits.MAX_LLM_ROWS),
        Field(min_length=1, max_length=limits.MAX_LLM_ROWS),
    ]


class LlmEstimate(ResponseModel):
    """What one attempt of each request costs at most, sent as it would be sent now.

    That is as many tokens as bytes of input, and ``maxTokens`` of output.

    Attributes:
        bound_nano_usd: of one attempt each; that much is set aside for each attempt.
        worst_case_nano_usd: were each tried as often as it may be, every attempt paid in full, and
            asked again as often as its verdict's format allows.
        fits: whether the budget has room for one attempt of each now.
    """

    rows: int
    input_bytes: int
    bound_nano_usd: int
    worst_case_nano_usd: int
    fits: bool


LlmCostGroup = Literal["model", "purpose", "connection", "day", "trace"]

LlmTraceField = Literal["experimentId", "rubricId"]
"""Ids of a request's ``trace`` that costs are summed by."""


class LlmCost(ResponseModel):
    """What one group cost on one day.

    ``input_tokens`` include cached ones and writes to the cache, ``output_tokens`` those of
    reasoning.
    """

    day: str
    group: str
    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_nano_usd: int = 0


LLM_COST_NUMBERS = (
    "rows",
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_nano_usd",
)
"""What costs are sums of."""


class LlmCosts(ResponseModel):
    """Costs by day and group, oldest first.

    Of ``trace``, ids that share one sum are the group ``all others``, and requests without that id
    the group ``no id``.
    """

    group_by: LlmCostGroup
    trace_field: LlmTraceField | None = None
    costs: list[LlmCost]
