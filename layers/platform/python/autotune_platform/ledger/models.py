"""Requests to language models, their batches and connections, as the platform sees them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from autotune.protocol.completions import Priority
from autotune.protocol.llm_batches import LlmBatchStatus
from autotune.protocol.llm_connections import ConnectionStatus, LlmProvider
from autotune.protocol.llm_requests import FinishReason, LlmStatus
from autotune_platform.ledger.prices import PriceSnapshot
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

BatchPhase = Literal["building", "working", "settled"]
"""Inside a batch: its rows are being taken, they are asked one by one, their money is settled."""

ENDED: frozenset[LlmStatus] = frozenset({"completed", "error", "canceled"})

BASE_URLS: Mapping[LlmProvider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Where the providers' own APIs begin."""


class Connection(Entity):
    """Where models are called, and how; the key is kept apart, encrypted.

    ``prices`` are those of the organisation's own, as its caller wrote them, by model.
    """

    name: str
    provider: LlmProvider
    base_url: str
    status: ConnectionStatus = "active"
    paused_because: str | None = None
    key_version: int = 0
    key_ends_with: str | None = None
    api_version: str | None = None
    prices: Mapping[str, Mapping[str, str | None]] = {}
    concurrency: int = 8
    timeout_seconds: int = 120
    min_rows: int = 20
    max_rows: int = 500
    max_wait_seconds: int = 300
    created_at: datetime
    updated_at: datetime


class Fault(FrozenModel):
    """Why a row has no output, or an output no verdict."""

    code: str
    message: str


class Attempt(FrozenModel):
    """One try of a row that is over; without an error it has an output."""

    number: int
    batch_id: str | None = None
    error: Fault | None = None
    cost_nano_usd: int | None = None
    at: datetime


class Row(FrozenModel):
    """A request to a language model, without its texts.

    Attributes:
        bound_nano_usd: what an attempt costs at most.
        price: what tokens cost when it was enqueued.
        periods: the budget's periods in which the bound is set aside, of a row without a batch.
        attempts: those that are over, at most one in each batch.
        cost_nano_usd: what all of these cost.
    """

    id: str
    organization_id: str
    connection_id: str
    provider: LlmProvider
    model: str
    purpose: str
    status: LlmStatus = "queued"
    priority: Priority = "normal"
    attempt: int = 1
    attempts: Sequence[Attempt] = ()
    batch_id: str | None = None
    input_bytes: int
    messages: int
    max_tokens: int
    bound_nano_usd: int
    price: PriceSnapshot
    periods: Sequence[str] = ()
    usage: Usage | None = None
    cost_nano_usd: int = 0
    finish_reason: FinishReason | None = None
    error: Fault | None = None
    parse_error: Fault | None = None
    served_model: str | None = None
    provider_request_id: str | None = None
    trace: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    completion_id: str | None = None
    deck_id: str | None = None
    custom_id: str | None = None
    import_id: str | None = None
    retry_of: str | None = None
    complete_by: datetime | None = None
    cancel_requested_at: datetime | None = None
    expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.status in ENDED

    @property
    def group(self) -> "Group":
        """The queue that it waits in."""
        return Group(
            organization_id=self.organization_id,
            connection_id=self.connection_id,
            model=self.model,
        )

    def is_pending_in(self, batch_id: str) -> bool:
        """Return whether a batch still has to see to it."""
        return self.batch_id == batch_id and not self.has_ended

    def cost_in(self, batch_id: str) -> int:
        """Return what its attempt in a batch cost; 0 where there was none."""
        tried = (one for one in self.attempts if one.batch_id == batch_id)
        return sum(one.cost_nano_usd or 0 for one in tried)


class RowInput(FrozenModel):
    """What a row asks: never changed, and the first to be erased.

    The members are those of the wire's models, as JSON has them.
    """

    input: Mapping[str, Any]
    params: Mapping[str, Any]
    verdict: Mapping[str, Any] | None = None


class RowOutput(FrozenModel):
    """What a row was answered; ``model_reasoning`` came from the provider apart from the answer."""

    raw_output: str
    model_reasoning: str | None = None
    reasoning: str | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None


class Batch(FrozenModel):
    """Rows of one connection and model that are sent together.

    Attributes:
        rows: how many it was made for.
        completed: how many have an output, and so on; ``released`` ones left it without an end,
            and wait for a later batch or were taken by another.
        unclear: calls that may have been paid although no answer came.
        reserved_nano_usd: what was set aside for it, in the budget's ``periods``.
        redrive: how often its execution was lost; executions from before have no effect.
        worked_until: until when a step has the batch for itself.
    """

    id: str
    organization_id: str
    connection_id: str
    provider: LlmProvider
    model: str
    phase: BatchPhase = "building"
    status: LlmBatchStatus = "queued"
    rows: int
    completed: int = 0
    failed: int = 0
    canceled: int = 0
    released: int = 0
    unclear: int = 0
    reserved_nano_usd: int
    cost_nano_usd: int = 0
    periods: Sequence[str] = ()
    error: Fault | None = None
    redrive: int = 0
    worked_until: datetime | None = None
    cancel_requested_at: datetime | None = None
    created_at: datetime
    submitted_at: datetime | None = None
    completed_at: datetime | None = None


class Group(FrozenModel):
    """Queued rows that may share a batch: those of one connection and model."""

    organization_id: str
    connection_id: str
    model: str

    @property
    def key(self) -> str:
        """What stands for the group; the model's name may be anything printable."""
        return f"group#{self.connection_id}#{self.model}"


def expiry(created_at: datetime, retention_days: int | None) -> datetime | None:
    """Return when texts go, in whole seconds as the table's time to live counts; None for never."""
    if retention_days is None:
        return None
    return created_at.replace(microsecond=0) + timedelta(days=retention_days)


def as_stored(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of a model as its item has them: times as the model itself writes them."""
    return {
        name: value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
        for name, value in changes.items()
    }
