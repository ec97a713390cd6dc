"""Completions and batches as the platform sees them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pydantic import model_validator

from autotune.protocol.completions import Priority
from autotune.protocol.ids import is_id
from autotune.protocol.levels import Uncalibrated
from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune_platform.completions.generations import Generation
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.models import (
    CompletionHeader,
    GradedBy,
    VerdictKey,
    completion_id_of,
)

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
    uncalibrated: Uncalibrated | None = None
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
    The sweeper looks after it as long as it ``is_open``. ``generation`` is how often some of it was
    scored again, ``generations`` what that was, and ``propagated`` how many of them completions and
    lists of verdicts know of.
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
    generation: int = 0
    generations: list[Generation] = []
    propagated: int = 0

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
            and sleep.generation == self.generation_of(place)
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
        rescored_at = self.generations[-1].requested_at if self.generations else self.attempted_at
        return max(self.redriven_at or self.attempted_at, rescored_at)

    @property
    def latest_sweeps(self) -> int:
        """How often it was redriven since some of it was last scored again."""
        return self.sweeps - (self.generations[-1].sweeps if self.generations else 0)

    def generation_of(self, place: int, *, before: int | None = None) -> int:
        """Return the latest generation of the completion at an index.

        Args:
            before: of those below this one.
        """
        known = self.generations if before is None else self.generations[: max(before - 1, 0)]
        return next((one.number for one in reversed(known) if one.has(place)), 0)

    @property
    def later_generations(self) -> dict[str, int]:
        """The latest generation of those completions that are not in their first, by id."""
        if not self.generations:
            return {}
        found = {id_: self.generation_of(place) for place, id_ in enumerate(self.completion_ids)}
        return {id_: generation for id_, generation in found.items() if generation}

    @property
    def size(self) -> int:
        """Number of completions."""
        return sum(segment.count for segment in self.segments)

    @property
    def completion_ids(self) -> list[str]:
        """Ids of the completions, in the order of the request; they follow from the batch's own."""
        return [completion_id_of(self.id, index) for index in range(self.size)]

    @property
    def verdict_keys(self) -> list[VerdictKey]:
        """What finds each latest verdict, in the order of the request."""
        return [
            VerdictKey(
                completion_id_of(self.id, place),
                segment.grader_id,
                segment.grader_version,
                self.generation_of(place),
            )
            for place, segment in enumerate(self.by_completion())
        ]

    def keys_in(self, generation: int) -> list[VerdictKey]:
        """Return what finds each verdict of a generation: 0 has all completions."""
        return [
            key._replace(generation=generation)
            for place, key in enumerate(self.verdict_keys)
            if not generation or self.generations[generation - 1].has(place)
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
        generation = self.generation_of(index)
        rescored_at, deadline_seconds = self._start_of(generation, segment)
        return CompletionHeader(
            id=completion_id_of(self.id, index),
            generation=generation,
            rescored_at=rescored_at,
            organization_id=self.organization_id,
            batch_id=self.id,
            index=index,
            alone=self.size == 1,
            task_id=segment.task_id,
            model_id=model_id,
            grader_id=segment.grader_id,
            grader_version=segment.grader_version,
            share_identity=segment.share_identity,
            uncalibrated=segment.uncalibrated,
            deadline_seconds=deadline_seconds,
            expires_at=segment.expires_at(self.created_at),
            created_at=self.created_at,
        )

    def _start_of(self, generation: int, segment: Segment) -> tuple[datetime | None, int]:
        """Return when a later generation was requested, and how many seconds a verdict may take.

        These are never more than its text is there.
        """
        if not generation:
            return None, segment.deadline_seconds
        rescored = self.generations[generation - 1]
        seconds = rescored.deadline_seconds or segment.deadline_seconds
        expires_at = segment.expires_at(self.created_at)
        if expires_at is not None:
            left = math.floor((expires_at - rescored.requested_at).total_seconds())
            seconds = max(1, min(seconds, left))
        return rescored.requested_at, seconds

    def current(self, headers: Mapping[str, CompletionHeader]) -> dict[str, CompletionHeader]:
        """Return headers of its completions in the generation that the batch knows to be latest.

        Their own items learn of a later one only after the batch did.
        """
        if not self.generations:
            return dict(headers)
        known = self.headers(list(headers))
        later = ("generation", "rescored_at", "deadline_seconds")
        return {
            id_: header.model_copy(update={name: getattr(known[id_], name) for name in later})
            for id_, header in headers.items()
        }

    def by_completion(self) -> Iterator[Segment]:
        """Yield each completion's segment, in the order of the request."""
        return (segment for segment in self.segments for _ in range(segment.count))


class Chunk(GradedBy):
    """Completions of one organisation for one grader, as they pass through the queue: ids only.

    ``redrive`` is 0 at first and higher for what is redriven, so that it gets a new run.
    """

    organization_id: str
    completion_ids: list[str]
    text_bytes: int
    redrive: int = 0

    @model_validator(mode="before")
    @classmethod
    def _queued_before(cls, queued: Any) -> Any:
        """Read a message of before completions had generations: it named the redrive so."""
        if isinstance(queued, dict) and "redrive" not in queued:
            return {**queued, "redrive": queued.get("generation", 0), "generation": 0}
        return queued
