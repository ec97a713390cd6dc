"""Requests to language models, their batches and connections, as the platform sees them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from autotune.protocol.completions import Priority
from autotune.protocol.llm_batches import LlmBatchStatus
from autotune.protocol.llm_connections import Batches, ConnectionStatus, LlmProvider
from autotune.protocol.llm_limits import JobLimitName
from autotune.protocol.llm_requests import (
    ENDED_LLM_STATUSES,
    FinishReason,
    LlmReaskSkipped,
    LlmStatus,
)
from autotune_platform.budgets.uses import task_scope
from autotune_platform.ledger.attempts import Attempt, Fault
from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.job_limits import Limits, OwnLimits, limits_of
from autotune_platform.ledger.job_states import JobProgress, JobState
from autotune_platform.ledger.parses import LatestParse
from autotune_platform.ledger.prices import PriceSnapshot
from autotune_platform.ledger.timings import Timings
from autotune_platform.ledger.usage import Difference, Usage
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

Mode = Literal["calls", "job"]
"""How rows are sent: each in a call of its own, or all in a batch job of the provider."""

BatchPhase = Literal[
    "building",
    "working",
    "writing",
    "uploading",
    "creating",
    "unknown",
    "polling",
    "fetching",
    "ingesting",
    "cleaning",
    "settled",
]
"""Inside a batch. Its rows are being taken (``building``).

Of ``calls``, they are then asked one by one (``working``). Of a ``job``, the input is written and
uploaded; the job is being created, and whether it was may be ``unknown``; it is looked at until it
has ended; its results are fetched, and each row's is stored; what is left at the provider is
deleted. At last its money is settled.
"""


_MOST_ROWS: Mapping[Mode, int] = {"calls": 500, "job": 10_000}
# A job that goes wrong as a whole is not to be larger than need be.
_MOST_JOB_BYTES = 50_000_000


class Connection(Entity):
    """Where models are called, and how; the key is kept apart, encrypted.

    ``created_by`` is the API key that made it.

    ``prices`` are those of the organisation's own, as its caller wrote them, by model.

    ``settings_version`` is one more after each change of how it is used.
    """

    name: str
    created_by: str | None = None
    provider: LlmProvider
    base_url: str
    status: ConnectionStatus = "active"
    paused_because: str | None = None
    key_version: int = 0
    key_ends_with: str | None = None
    api_version: str | None = None
    bedrock: BedrockAccess | None = None
    prices: Mapping[str, Mapping[str, str | None]] = {}
    concurrency: int = 8
    requests_per_second: float | None = None
    timeout_seconds: int = 120
    batches: Batches = "never"
    min_rows: int = 20
    max_rows: int | None = None
    max_bytes: int | None = None
    max_wait_seconds: int = 300
    own_limits: OwnLimits = Field(default_factory=OwnLimits)
    timings: Timings = Field(default_factory=Timings)
    settings_version: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def limits(self) -> Limits:
        """What its jobs may be together."""
        return limits_of(self.provider, self.own_limits)

    def rows_at_most(self, mode: Mode) -> int:
        """Return how many rows a batch may have."""
        return self.max_rows or _MOST_ROWS[mode]

    @property
    def bytes_at_most(self) -> int:
        """How many bytes the input of a job may have, as far as the provider takes as many."""
        return self.max_bytes or _MOST_JOB_BYTES


class Row(FrozenModel):
    """A request to a language model, without its texts.

    Attributes:
        bound_nano_usd: what an attempt costs at most.
        most_nano_usd: what all its attempts may cost together, where somebody has set no more aside
            for it.
        price: what tokens cost when it was enqueued.
        together: most rows that it may share its next batch with, itself included, after a job
            was refused without a word on which of its rows was the reason.
        halved_of: the first batch that was halved for this reason, with whose rows alone it shares
            a batch.
        periods: the budget's periods in which the bound is set aside, of a row without a batch.
        attempts: those that are over, at most one in each batch.
        cost_nano_usd: what all of these cost.
        parse_error: of its first parse; ``latest_parse`` is one after it.
        reask: ``due`` once its verdict cannot be read, until it is asked again or skipped.
        reasks: how many such rows there are from the first to this one, of those that are one.
        first_request_id: the first of them.
        parser_version: of the parser that read the answer first, where a verdict was asked for.
        apprentice_task_id: the task that it is asked for, whose budget it is in as well.
        apprentice_run_id: the run of that task.
    """

    id: str
    organization_id: str
    connection_id: str
    provider: LlmProvider
    model: str
    mode: Mode = "calls"
    purpose: str
    status: LlmStatus = "queued"
    priority: Priority = "normal"
    together: int | None = None
    halved_of: str | None = None
    attempt: int = 1
    attempts: Sequence[Attempt] = ()
    batch_id: str | None = None
    input_bytes: int
    messages: int
    max_tokens: int
    bound_nano_usd: int
    most_nano_usd: int | None = None
    price: PriceSnapshot
    periods: Sequence[str] = ()
    usage: Usage | None = None
    cost_nano_usd: int = 0
    finish_reason: FinishReason | None = None
    error: Fault | None = None
    parse_error: Fault | None = None
    parser_version: int | None = None
    latest_parse: LatestParse | None = None
    served_model: str | None = None
    provider_request_id: str | None = None
    trace: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    completion_id: str | None = None
    deck_id: str | None = None
    custom_id: str | None = None
    import_id: str | None = None
    apprentice_task_id: str | None = None
    apprentice_run_id: str | None = None
    retry_of: str | None = None
    reask: Literal["due"] | None = None
    reask_of: str | None = None
    reasked_as: str | None = None
    reask_skipped: LlmReaskSkipped | None = None
    reasks: int | None = None
    first_request_id: str | None = None
    complete_by: datetime | None = None
    cancel_requested_at: datetime | None = None
    expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.status in ENDED_LLM_STATUSES

    @property
    def scopes(self) -> list[str]:
        """Scopes of money that it is in, the narrowest first."""
        task = self.apprentice_task_id
        return [
            *([task_scope(self.organization_id, task)] if task is not None else []),
            self.organization_id,
        ]

    @property
    def cost_is_assumed(self) -> bool:
        """Whether a part of what it cost is the most that it can be, since nobody knows the rest.

        An attempt without an answer may have been paid, or an answer has no usage.
        """
        # What is paid has a cost only in full where no answer came.
        is_unclear = any(one.error and one.cost_nano_usd for one in self.attempts)
        return is_unclear or (bool(self.usage and self.usage.assumed) and self.cost_nano_usd > 0)

    def may_cost(self, nano_usd: int) -> bool:
        """Return whether so much more is within what it may cost altogether."""
        most = self.most_nano_usd
        return most is None or self.cost_nano_usd + nano_usd <= most

    @property
    def group(self) -> "Group":
        """The queue that it waits in."""
        return Group(
            organization_id=self.organization_id,
            connection_id=self.connection_id,
            model=self.model,
            mode=self.mode,
        )

    def is_pending_in(self, batch_id: str) -> bool:
        """Return whether a batch still has to see to it."""
        return self.batch_id == batch_id and not self.has_ended

    def is_reask_due_in(self, batch_id: str) -> bool:
        """Return whether it is to be asked again before a batch is settled."""
        return self.batch_id == batch_id and self.reask == "due"

    def cost_in(self, batch_id: str) -> int:
        """Return what its attempt in a batch cost; 0 where there was none."""
        tried = (one for one in self.attempts if one.batch_id == batch_id)
        return sum(one.cost_nano_usd or 0 for one in tried)


class Batch(FrozenModel):
    """Rows of one connection and model that are sent together.

    Attributes:
        settings_version: of its connection's settings, when it was made.
        rows: how many it was made for.
        input_tokens: how many tokens these count as, of a job.
        counted_tokens: as how many its job is counted in its connection's limits, if it is.
        waiting_for: the limit of its connection that has no room for it.
        completed: how many have an output, and so on; ``released`` ones left it without an end,
            and wait for a later batch or were taken by another.
        unclear: calls that may have been paid although no answer came.
        throttled: rounds of calls in a row that came to nothing but that there were too many, the
            first of which ended at ``throttled_since``.
        reserved_nano_usd: what was set aside for it, in the budget's ``periods``.
        redrive: how often its execution was lost; executions from before have no effect.
        worked_until: until when a step has the batch for itself.
        leaves_rows: its queue had more rows than it could have.
        is_counted: among the open ones of its queue; those of before counts were kept are not.
        job: how far its provider's job is, of a batch that is one.
        above_bound: rows whose usage cost more than what was reserved for them.
        difference: between what the provider reports and what was charged, once it is settled.
        progress: what the provider said of it last.
    """

    id: str
    organization_id: str
    connection_id: str
    provider: LlmProvider
    model: str
    mode: Mode = "calls"
    phase: BatchPhase = "building"
    status: LlmBatchStatus = "queued"
    settings_version: int = 1
    rows: int
    input_tokens: int = 0
    counted_tokens: int | None = None
    waiting_for: JobLimitName | None = None
    completed: int = 0
    failed: int = 0
    canceled: int = 0
    released: int = 0
    unclear: int = 0
    throttled: int = 0
    throttled_since: datetime | None = None
    reserved_nano_usd: int
    cost_nano_usd: int = 0
    above_bound: int = 0
    difference: Difference | None = None
    periods: Sequence[str] = ()
    error: Fault | None = None
    redrive: int = 0
    worked_until: datetime | None = None
    leaves_rows: bool = False
    is_counted: bool = False
    job: JobState | None = None
    progress: JobProgress | None = None
    cancel_requested_at: datetime | None = None
    created_at: datetime
    submitted_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def group(self) -> "Group":
        """The queue that its rows came from."""
        return Group(
            organization_id=self.organization_id,
            connection_id=self.connection_id,
            model=self.model,
            mode=self.mode,
        )


class Group(FrozenModel):
    """Queued rows that may share a batch: those of one connection and model, sent alike."""

    organization_id: str
    connection_id: str
    model: str
    mode: Mode = "calls"

    @property
    def key(self) -> str:
        """What stands for the group; the model's name may be anything printable."""
        return f"group#{self.connection_id}#{self.mode}#{self.model}"


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
