"""Completions and batches as the platform sees them."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple

from autotune.protocol.completions import Priority
from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.models import CompletionHeader, GradedBy, completion_id_of

BatchStatus = Literal["accepting", "interrupted", "accepted", "given_up"]

CHUNK_COMPLETIONS = 100
"""Most completions in one run: state stays small, and one run's steps are shared by many."""

FIRST_SWEEP_AFTER = timedelta(minutes=3)
"""How long a batch may take before the sweeper looks after it, beyond what runs ask it to wait."""

CHUNK_TEXT_BYTES = 8_000_000
"""Most text that small chunks are merged up to: a run's function holds all of it in memory."""


class Completion(CompletionHeader):
    """A stored completion; prompt, response and metadata are never changed."""

    prompt: str
    response: str
    metadata: dict[str, Any]

    @property
    def text_bytes(self) -> int:
        """Length of prompt and response in UTF-8."""
        return len(self.prompt.encode()) + len(self.response.encode())


class CompletionText(NamedTuple):
    """What was judged, without what is known of it beside its text."""

    prompt: str
    response: str
    metadata: dict[str, Any]


class PackedText(NamedTuple):
    """A completion's text as it is stored: compressed, or by the name of an object that holds it.

    Exactly one of the two is there.
    """

    body: bytes | None
    object_key: str | None


class Segment(FrozenModel):
    """Consecutive completions of a batch that go to one grader, or one panel, for one task."""

    task_id: str
    grader_id: str
    grader_version: str
    share_identity: bool
    deadline_seconds: int = MAX_DEADLINE_SECONDS
    retention_days: int | None = None
    count: int

    def expires_at(self, created_at: datetime) -> datetime | None:
        """Return when the text of completions goes that were submitted then; None if it stays.

        In whole seconds, as the table's time to live counts.
        """
        if self.retention_days is None:
            return None
        return created_at.replace(microsecond=0) + timedelta(days=self.retention_days)


class Batch(FrozenModel):
    """What came in one submission; a single completion is a batch of one.

    ``fingerprint`` distinguishes a repeated submission from another one under the same idempotency
    key. A repetition takes over what an earlier attempt left ``interrupted``, or ``accepting`` for
    longer than any attempt lives; every part of the work is repeatable. One that is ``given_up`` is
    never queued. ``sweeps`` counts how often its pending completions were redriven, and
    ``redriven_at`` is when they last were. ``sleeps`` has for each run what it last slept for.
    The sweeper looks after it as long as it ``is_open``.
    """

    id: str
    organization_id: str
    fingerprint: str
    status: BatchStatus
    priority: Priority
    segments: list[Segment]
    estimated_score_time_ms: int
    created_at: datetime
    attempted_at: datetime
    sweeps: int = 0
    redriven_at: datetime | None = None
    sleeps: list[Sleep] = []
    is_open: bool = False

    @property
    def is_one_run(self) -> bool:
        """Whether one run serves all of it, until it is redriven."""
        alone = len(self.segments) == 1 and not is_id("pnl", self.segments[0].grader_id)
        return alone and self.size <= CHUNK_COMPLETIONS

    def sleep_of(self, completion_id: str, grader_id: str, now: datetime) -> Sleep | None:
        """Return what the run sleeps for that serves a completion for a grader, or for a panel.

        Of several members of a panel, one that failed; of several runs, the first to go on.
        """
        place = self.place_of(completion_id)
        sleeps = [
            sleep
            for sleep in self.sleeps
            if grader_id in (sleep.grader_id, sleep.panel_id)
            and sleep.unswept_until > now
            and sleep.serves(place)
        ]
        return min(sleeps, key=lambda one: (one.reason_code is None, one.awake_at), default=None)

    def place_of(self, completion_id: str) -> int:
        """Return the index of a completion of the batch."""
        return self._places[completion_id]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id_: place for place, id_ in enumerate(self.completion_ids)}

    @property
    def queued_at(self) -> datetime:
        """When its completions were last queued, or soon after."""
        return self.redriven_at or self.attempted_at

    @property
    def size(self) -> int:
        """Number of completions."""
        return sum(segment.count for segment in self.segments)

    @property
    def completion_ids(self) -> list[str]:
        """Ids of the completions, in the order of the request; they follow from the batch's own."""
        return [completion_id_of(self.id, index) for index in range(self.size)]

    @property
    def verdict_keys(self) -> list[tuple[str, str, str]]:
        """Completion, grader and grader version of each verdict, in the order of the request."""
        return [
            (id_, segment.grader_id, segment.grader_version)
            for id_, segment in zip(self.completion_ids, self.by_completion(), strict=True)
        ]

    def headers(self, completion_ids: Sequence[str]) -> dict[str, CompletionHeader]:
        """Return what the batch itself knows of some of its completions: all but their models."""
        wanted = set(completion_ids)
        return {
            id_: self.header(index, segment)
            for index, (id_, segment) in enumerate(
                zip(self.completion_ids, self.by_completion(), strict=True)
            )
            if id_ in wanted
        }

    def header(self, index: int, segment: Segment, *, model_id: str = "") -> CompletionHeader:
        """Return what is known of a completion beside its text, from the segment that it is in."""
        return CompletionHeader(
            id=completion_id_of(self.id, index),
            organization_id=self.organization_id,
            batch_id=self.id,
            index=index,
            alone=self.size == 1,
            task_id=segment.task_id,
            model_id=model_id,
            grader_id=segment.grader_id,
            grader_version=segment.grader_version,
            share_identity=segment.share_identity,
            deadline_seconds=segment.deadline_seconds,
            expires_at=segment.expires_at(self.created_at),
            created_at=self.created_at,
        )

    def by_completion(self) -> Iterator[Segment]:
        """Yield each completion's segment, in the order of the request."""
        return (segment for segment in self.segments for _ in range(segment.count))


class Chunk(GradedBy):
    """Completions of one organisation for one grader, as they pass through the queue: ids only.

    ``generation`` is 0 at first and higher for what is redriven, so that it gets a new run.
    """

    organization_id: str
    completion_ids: list[str]
    text_bytes: int
    generation: int = 0
