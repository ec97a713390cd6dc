"""Requests to language models on the wire: rows of the ledger."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.completions import Priority
from autotune.protocol.ids import ID_BODY
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_messages import LlmMessage, NoMessages, not_of_conversations
from autotune.protocol.llm_params import LlmInput, LlmParams
from autotune.protocol.llm_prices import LlmPrice
from autotune.protocol.types import Moment, RequestModel, ResponseModel, Text, Timestamp, at_most
from autotune.protocol.verdict_formats import VerdictFormat

LlmStatus = Literal["queued", "submitted", "completed", "error", "canceled"]
"""``completed``, ``error`` and ``canceled`` are for good; a retry is a request of its own."""

ENDED_LLM_STATUSES: Final[tuple[LlmStatus, ...]] = ("completed", "error", "canceled")
"""Statuses that do not change any more."""

LlmBatchMode = Literal["calls", "job"]
"""How requests are sent: in single calls, or together in a batch job of the provider."""

LlmErrorCode = Literal[
    "rejected",
    "content_filtered",
    "canceled",
    "unsupported_in_batch",
    "rate_limited",
    "provider_error",
    "outcome_unclear",
    "result_malformed",
    "result_missing",
    "batch_expired",
    "account",
    "address_refused",
    "expired",
    "platform_error",
]
"""Why a request ended without an output.

``rejected`` and ``content_filtered`` are the provider's refusal of this request.
``unsupported_in_batch`` is what no batch job of the connection may hold. ``rate_limited``,
``provider_error``, ``outcome_unclear`` (it may have been paid), ``result_malformed``,
``result_missing`` (its batch ended without it) and ``batch_expired`` (its batch ended before it was
asked) were tried five times. ``account`` is a key, a bill or a model that the key may not use;
``expired`` was still waiting at its ``completeBy``.
"""

LlmWaitingReason = Literal[
    "connection_paused",
    "no_price",
    "over_budget",
    "backing_off",
    "budget_exhausted",
    "connection_limit",
    "min_rows",
    "being_batched",
]
"""Why a request is still queued.

``connection_paused`` waits for a change of its connection; ``no_price`` for a price of its model;
``over_budget`` may cost more than a whole period of the budget; ``backing_off`` was tried, or its
provider had too much to do; ``budget_exhausted`` waits, or what is before it in its queue, for the
next period; ``connection_limit`` waits, or the batch before it in its queue, until jobs of its
connection have ended, because there may not be more; ``min_rows`` waits for others to share a batch
with; ``being_batched`` is in the next batch, or in one of the next where many wait.
"""

LlmReaskSkipped = Literal[
    "output_cut",
    "asked_enough",
    "canceled",
    "expired",
    "connection_revoked",
    "texts_deleted",
    "texts_expire",
    "unsupported_in_batch",
    "model_unpriced",
]
"""Why a request whose verdict cannot be read was not asked again, although it says so.

``output_cut``: its ``maxTokens`` would cut the next answer as well. ``asked_enough``: it is the
second that came of the first. ``canceled``: it, or its batch, was not wanted any more. ``expired``:
its ``completeBy`` had passed. ``texts_expire``: its texts would go before the next answer must be
there. ``unsupported_in_batch``: all requests of its connection are to go in batch jobs by then,
which do not take a parameter of it. In the others its connection was revoked, its texts were
deleted, or its model had no price any more by then.
"""

FinishReason = Literal["stop", "length", "refusal", "other"]

ConnectionId = Annotated[str, StringConstraints(pattern=rf"^llc_{ID_BODY}$")]
Purpose = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=limits.MAX_LLM_PURPOSE_CHARACTERS),
]
EnqueuedPurpose = Annotated[Purpose, AfterValidator(not_of_conversations)]
_Label = Annotated[str, StringConstraints(min_length=1, max_length=limits.MAX_LLM_LABEL_CHARACTERS)]
Labels = Annotated[dict[_Label, _Label], at_most(limits.MAX_LLM_LABELS)]
_TracedId = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[!-~]+$")]
CustomId = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=limits.MAX_LLM_CUSTOM_ID_CHARACTERS),
]


def _within_reach(value: datetime) -> datetime:
    if value > datetime.now(UTC) + timedelta(days=limits.MAX_LLM_COMPLETE_BY_DAYS):
        raise ValueError(f"expected a time within {limits.MAX_LLM_COMPLETE_BY_DAYS} days from now")
    return value


CompleteBy = Annotated[Moment, AfterValidator(_within_reach)]


class LlmTrace(RequestModel):
    """What a request is part of, by ids of the caller's own."""

    experiment_id: _TracedId | None = None
    rubric_id: _TracedId | None = None
    score_id: _TracedId | None = None
    evidence_id: _TracedId | None = None
    sample_id: _TracedId | None = None


class EnqueueLlmRequest(RequestModel):
    """One call of a language model, to be made soon.

    Attributes:
        purpose: what it is for, such as ``scoring``; costs are listed by it.
        messages: never given; conversations of several turns are not enqueued.
        verdict: what the end of the answer is read as; without it, the answer is kept as it is.
        completion_id: the completion that it is about.
        deck_id: the deck that it is for.
        custom_id: a name of the caller's own, which comes back with the request; need not be
            unique.
        labels: free names and values, up to 16.
        priority: rows of a higher one go first.
        complete_by: what waits at this time ends as ``expired``, within minutes; what is at the
            provider by then is completed, also if it is answered late. Ten years ahead at most.
        retention_days: when texts go; without it, they stay until they are deleted.
    """

    connection_id: ConnectionId
    purpose: EnqueuedPurpose
    model: ModelName
    input: LlmInput
    messages: NoMessages = Field(default=None, exclude=True, repr=False)
    params: LlmParams
    verdict: VerdictFormat | None = None
    trace: LlmTrace | None = None
    completion_id: _TracedId | None = None
    deck_id: _TracedId | None = None
    custom_id: CustomId | None = None
    labels: Labels = {}
    priority: Priority = "normal"
    complete_by: CompleteBy | None = None
    retention_days: (
        Annotated[int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS)] | None
    ) = None


class EnqueueLlmRequests(RequestModel):
    """Up to 1,000 requests; either all are enqueued or none."""

    most_values: ClassVar[int] = limits.MAX_LLM_ROWS_VALUES

    requests: Annotated[
        list[EnqueueLlmRequest],
        at_most(limits.MAX_LLM_ROWS),
        Field(min_length=1, max_length=limits.MAX_LLM_ROWS),
    ]


class LlmUsage(ResponseModel):
    """Tokens of a call as the provider counted them.

    ``input_tokens`` are all of the input's, cached ones and writes to the cache included;
    ``output_tokens`` are all of the output's, reasoning included. ``assumed`` is whether the
    provider gave none, and the most that the row could use stands here.
    """

    input_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int
    reasoning_tokens: int = 0
    assumed: bool = False


class LlmError(ResponseModel):
    """Why a request has no output, or why an output could not be read."""

    code: str
    message: str


class LlmAttempt(ResponseModel):
    """One try of a request; ``cost_nano_usd`` is 0 where nothing was paid.

    ``key_version`` is of the connection's key that it was asked with: 1 for the first, and one more
    with each that took its place. None where it was not asked, or without a key.
    """

    number: int
    batch_id: str | None = None
    key_version: int | None = None
    error: LlmError | None = None
    cost_nano_usd: int | None = None
    at: Timestamp


class LlmRequestSummary(ResponseModel):
    """A row of the ledger without its texts.

    Attributes:
        mode: how it is sent, and so at which price: ``calls`` is a single call at the standard
            price, ``job`` a batch job of the provider at its price for these. What is in a job's
            queue may be asked by itself after all, where there are too few for a job.
        attempt: number of the try that is under way, or was the last.
        cost_nano_usd: what all tries cost, in billionths of a US dollar; None until one is over.
        cost_is_assumed: whether a part of that is the most that it can be: nobody knows whether a
            try without an answer was paid, or what an answer without usage used.
        bound_nano_usd: what one attempt costs at most.
        price: what is counted with.
        price_ref: where that stands.
        parse_error: why the output has no verdict, where one was asked for; as the latest parse
            says it.
        parse_version: which parse its verdict is of: 1 for the first, more where the answer was
            parsed again. None where it was never parsed.
        retry_of: the request that this is a retry of.
        reask_of: the request that this is asked again for, because its verdict cannot be read.
        reasked_as: the request that came of this one in the same way.
        reask_due: whether one will, or it will be said in ``reask_skipped`` why not; soon.
        first_request_id: the one that was asked first, of those that are asked again.
        import_id: the import that it came with.
        apprentice_task_id: the apprentice's task that it was asked for, and ``apprentice_run_id``
            the run of it.
    """

    id: str
    status: LlmStatus
    purpose: str
    connection_id: str
    provider: LlmProvider
    model: str
    mode: LlmBatchMode
    batch_id: str | None = None
    attempt: int
    error: LlmError | None = None
    finish_reason: FinishReason | None = None
    usage: LlmUsage | None = None
    cost_nano_usd: int | None = None
    cost_is_assumed: bool = False
    bound_nano_usd: int
    price: LlmPrice
    price_ref: str
    parse_error: LlmError | None = None
    parse_version: int | None = None
    served_model: str | None = None
    provider_request_id: str | None = None
    trace: LlmTrace | None = None
    completion_id: str | None = None
    deck_id: str | None = None
    custom_id: str | None = None
    import_id: str | None = None
    apprentice_task_id: str | None = None
    apprentice_run_id: str | None = None
    labels: dict[str, str] = {}
    priority: Priority
    complete_by: Timestamp | None = None
    cancel_requested_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    retry_of: str | None = None
    reask_of: str | None = None
    reasked_as: str | None = None
    reask_due: bool = False
    reask_skipped: LlmReaskSkipped | None = None
    first_request_id: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class LlmRequest(LlmRequestSummary):
    """A row with its texts; ``input`` is what was sent in, before variables were put in.

    A row of purpose ``conversation`` has ``messages`` in place of it, as they were sent, or
    ``chat_request`` and ``chat_response``, in OpenAI's JSON, where it was passed through.
    ``reasoning`` is what stands before the verdict; ``model_reasoning`` is what the provider
    returned apart from the answer. ``parsed_verdict`` is what the verdict's format makes of
    ``verdict_text``; the three are None where no verdict was asked for, or none could be read. They
    are those of the latest parse, whose format is ``parsed_with`` where it is not ``verdict``.
    ``waiting_because`` is why it is queued at the moment of reading; None where it is not.
    """

    input: LlmInput | None = None
    messages: list[LlmMessage] | None = None
    chat_request: dict[str, Any] | None = None
    params: LlmParams
    verdict: VerdictFormat | None = None
    raw_output: str | None = None
    chat_response: dict[str, Any] | None = None
    reasoning: str | None = None
    model_reasoning: str | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None
    parsed_with: VerdictFormat | None = None
    attempts: list[LlmAttempt] = []
    waiting_because: LlmWaitingReason | None = None


class LlmRequestResponse(ResponseModel):
    """One row."""

    request: LlmRequest


class LlmRequestSummaryResponse(ResponseModel):
    """One row without its texts."""

    request: LlmRequestSummary


class LlmRequestList(ResponseModel):
    """A page of rows, the youngest first."""

    requests: list[LlmRequestSummary]
    next_token: str | None = None


class EnqueuedLlmRequests(ResponseModel):
    """Ids of what was enqueued, in the order of the request."""

    request_ids: list[str]
