"""Requests to language models on the wire: rows of the ledger."""

import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.completions import Priority
from autotune.protocol.ids import ID_BODY
from autotune.protocol.llm_connections import LlmProvider, ModelName
from autotune.protocol.types import (
    Moment,
    RequestModel,
    ResponseModel,
    Text,
    Timestamp,
    at_most,
    nests_deeper_than,
)
from autotune.protocol.verdict_formats import VerdictFormat

LlmStatus = Literal["queued", "submitted", "completed", "error", "canceled"]
"""``completed``, ``error`` and ``canceled`` are for good; a retry is a request of its own."""

LlmErrorCode = Literal[
    "rejected",
    "content_filtered",
    "canceled",
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

``rejected`` and ``content_filtered`` are the provider's refusal of this request. ``rate_limited``,
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
    "min_rows",
    "being_batched",
]
"""Why a request is still queued.

``connection_paused`` waits for a change of its connection; ``no_price`` for a price of its model;
``over_budget`` may cost more than a whole period of the budget; ``backing_off`` was tried, or its
provider had too much to do; ``budget_exhausted`` waits, or what is before it in its queue, for the
next period; ``min_rows`` waits for others to share a batch with; ``being_batched`` is in the next
batch, or in one of the next where many wait.
"""

FinishReason = Literal["stop", "length", "refusal", "other"]

ConnectionId = Annotated[str, StringConstraints(pattern=rf"^llc_{ID_BODY}$")]
Purpose = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=limits.MAX_LLM_PURPOSE_CHARACTERS),
]
_Label = Annotated[str, StringConstraints(min_length=1, max_length=limits.MAX_LLM_LABEL_CHARACTERS)]
Labels = Annotated[dict[_Label, _Label], at_most(limits.MAX_LLM_LABELS)]
_TracedId = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[!-~]+$")]
CustomId = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=limits.MAX_LLM_CUSTOM_ID_CHARACTERS),
]
_VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]

OWN_PARAMETERS = frozenset(
    {"model", "messages", "input", "system", "contents", "stream", "n", "tools", "tool_choice"}
)
"""What ``extra`` may not set: who is asked and what, and what a row's one answer cannot hold.

What would cost more than a row's bound is refused by provider, such as ``service_tier``.
"""


def _small(value: dict[str, Any]) -> dict[str, Any]:
    if nests_deeper_than(value, limits.MAX_METADATA_DEPTH):
        raise ValueError(f"expected at most {limits.MAX_METADATA_DEPTH} levels")
    try:
        size = len(json.dumps(value, separators=(",", ":"), allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected JSON: {error}") from error
    if size > limits.MAX_LLM_EXTRA_BYTES:
        raise ValueError(f"expected at most {limits.MAX_LLM_EXTRA_BYTES} bytes of JSON")
    return value


def _foreign(value: dict[str, Any]) -> dict[str, Any]:
    own = sorted(OWN_PARAMETERS.intersection(value))
    if own:
        raise ValueError(f"expected parameters of the provider, without {', '.join(own)}")
    return _small(value)


class LlmInput(RequestModel):
    """One user message, and what stands before it.

    ``{{name}}`` in ``system`` and ``user`` is replaced from ``variables``; what was put in is never
    looked through again. So text that is not trusted belongs in variables.
    """

    system: Text | None = None
    user: Annotated[Text, Field(min_length=1)]
    variables: Annotated[dict[_VariableName, Text], at_most(limits.MAX_LLM_VARIABLES)] = {}


class LlmParams(RequestModel):
    """How a model is to answer.

    Attributes:
        max_tokens: most tokens of the answer, reasoning included; it bounds what a row can cost.
        response_format: as the provider takes it.
        extra: further parameters of the provider, sent as they are.
    """

    max_tokens: Annotated[int, Field(ge=1, le=limits.MAX_LLM_OUTPUT_TOKENS, strict=True)]
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    stop: (
        Annotated[
            list[
                Annotated[
                    Text, StringConstraints(min_length=1, max_length=limits.MAX_LLM_STOP_CHARACTERS)
                ]
            ],
            at_most(limits.MAX_LLM_STOPS),
        ]
        | None
    ) = None
    seed: Annotated[int, Field(ge=0, lt=2**53, strict=True)] | None = None
    response_format: Annotated[dict[str, Any], AfterValidator(_small)] | None = None
    extra: Annotated[dict[str, Any], AfterValidator(_foreign)] | None = None


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
        verdict: what the end of the answer is read as; without it, the answer is kept as it is.
        completion_id: the completion that it is about.
        deck_id: the deck that it is for.
        custom_id: a name of the caller's own, which comes back with the request; need not be
            unique.
        labels: free names and values, up to 16.
        priority: rows of a higher one go first.
        complete_by: what waits at this time ends as ``expired``, within minutes; what is at the
            provider by then is completed, also if it is answered late.
        retention_days: when texts go; without it, they stay until they are deleted.
    """

    connection_id: ConnectionId
    purpose: Purpose
    model: ModelName
    input: LlmInput
    params: LlmParams
    verdict: VerdictFormat | None = None
    trace: LlmTrace | None = None
    completion_id: _TracedId | None = None
    deck_id: _TracedId | None = None
    custom_id: CustomId | None = None
    labels: Labels = {}
    priority: Priority = "normal"
    complete_by: Moment | None = None
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
    """One try of a request; ``cost_nano_usd`` is 0 where nothing was paid."""

    number: int
    batch_id: str | None = None
    error: LlmError | None = None
    cost_nano_usd: int | None = None
    at: Timestamp


class LlmRequestSummary(ResponseModel):
    """A row of the ledger without its texts.

    Attributes:
        attempt: number of the try that is under way, or was the last.
        cost_nano_usd: what all tries cost, in billionths of a US dollar; None until one is over.
        price_ref: the price that was counted with.
        parse_error: why the output has no verdict, where one was asked for.
        retry_of: the request that this is a retry of.
        import_id: the import that it came with.
    """

    id: str
    status: LlmStatus
    purpose: str
    connection_id: str
    provider: LlmProvider
    model: str
    batch_id: str | None = None
    attempt: int
    error: LlmError | None = None
    finish_reason: FinishReason | None = None
    usage: LlmUsage | None = None
    cost_nano_usd: int | None = None
    price_ref: str
    parse_error: LlmError | None = None
    served_model: str | None = None
    provider_request_id: str | None = None
    trace: LlmTrace | None = None
    completion_id: str | None = None
    deck_id: str | None = None
    custom_id: str | None = None
    import_id: str | None = None
    labels: dict[str, str] = {}
    priority: Priority
    complete_by: Timestamp | None = None
    cancel_requested_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    retry_of: str | None = None
    created_at: Timestamp
    updated_at: Timestamp


class LlmRequest(LlmRequestSummary):
    """A row with its texts; ``input`` is what was sent in, before variables were put in.

    ``reasoning`` is what stands before the verdict; ``model_reasoning`` is what the provider
    returned apart from the answer. ``parsed_verdict`` is what the verdict's format makes of
    ``verdict_text``; the three are None where no verdict was asked for, or none could be read.
    ``waiting_because`` is why it is queued at the moment of reading; None where it is not.
    """

    input: LlmInput | None = None
    params: LlmParams
    verdict: VerdictFormat | None = None
    raw_output: str | None = None
    reasoning: str | None = None
    model_reasoning: str | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None
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


_Named = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class LlmRequestFilter(RequestModel):
    """Which requests are meant: those that match all that is given.

    Attributes:
        batch_id: the batch that it is in, or was in last.
        experiment_id: as in its ``trace``, like the four after it.
        error_code: why it ended without an answer.
        created_after: the earliest moment of its creation, included.
        created_before: the latest one, left out.
    """

    status: LlmStatus | None = None
    purpose: Purpose | None = None
    provider: LlmProvider | None = None
    model: ModelName | None = None
    connection_id: _Named | None = None
    batch_id: _Named | None = None
    import_id: _Named | None = None
    experiment_id: _Named | None = None
    rubric_id: _Named | None = None
    score_id: _Named | None = None
    evidence_id: _Named | None = None
    sample_id: _Named | None = None
    error_code: LlmErrorCode | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None


class ChangeLlmRequests(RequestModel):
    """Requests that are to be canceled or retried, a page of them at a time.

    ``next_token`` is that of the page before; the first page has none.
    """

    filter: LlmRequestFilter
    next_token: Annotated[str, StringConstraints(max_length=2_000)] | None = None


class ChangedLlmRequests(ResponseModel):
    """What one page changed; it may be empty while ``next_token`` says that there is more.

    ``request_ids`` are those that were canceled, or the new ones of those that were retried;
    ``skipped`` matched and were left as they are.
    """

    request_ids: list[str]
    skipped: int = 0
    next_token: str | None = None


class EnqueuedLlmRequests(ResponseModel):
    """Ids of what was enqueued, in the order of the request."""

    request_ids: list[str]
