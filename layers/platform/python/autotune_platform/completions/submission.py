"""Accepting completions: durable before the answer, and the same however often it is repeated."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.protocol.completions import NewCompletion, Priority, SubmissionWarning
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.completions.chunks import chunks_of
from autotune_platform.completions.models import FIRST_SWEEP_AFTER, Batch, BatchStatus, Completion
from autotune_platform.completions.planning import BatchPlanner, Plan
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    AutotuneError,
    IdempotencyKeyReusedError,
    TooManyRunsError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.panels import PanelRecords

# The API's functions end at 29 s, as API Gateway does. Others may live longer: two attempts at one
# batch do the same work twice, and one at a batch that may be given up is fenced.
_LONGEST_ATTEMPT_SECONDS = 30


@dataclass(frozen=True)
class Submission:
    """An accepted batch, whether it was accepted before, and which of its graders are not well."""

    batch: Batch
    replayed: bool
    warnings: Sequence[SubmissionWarning] = ()


@part
class SubmissionService:
    """Stores completions and queues them for their graders.

    The ids of a submission with an idempotency key follow from that key, so that every step can be
    done again after a crash without adding anything.
    """

    repository: CompletionRepository
    queues: ChunkQueues
    planner: BatchPlanner
    panels: PanelRecords
    clock: Clock = SYSTEM_CLOCK

    def submit(
        self,
        caller: Caller,
        completions: Sequence[NewCompletion],
        *,
        priority: Priority,
        idempotency_key: str | None,
        alone: bool = False,
        fenced: bool = False,
    ) -> Submission:
        """Accept a batch, whole or not at all.

        Args:
            fenced: others may find it unfinished, and resume it or give it up: so it is queued only
                if nobody has.
            alone: the one completion was the whole body, so that errors name its fields without an
                index.

        Raises:
            InvalidRequestError: a task is not one of the organisation's.
            GraderNotVerifiedError: a task's grader is not verified.
            ConflictError: a task's grader is gone.
            TooManyRunsError: it would begin more runs than one request may.
            TooManyOpenCompletionsError: too many of the organisation's are undecided.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store refused work, or somebody else has the batch now; nothing is
                lost by submitting again.
        """
        fingerprint = _fingerprint(completions, priority)
        batch_id = (
            new_id("bat")
            if idempotency_key is None
            else derived_id("bat", caller.organization_id, idempotency_key)
        )
        batch: Batch | None = None
        warnings: Sequence[SubmissionWarning] = ()
        try:
            plan = self.planner.plan(
                caller,
                completions,
                batch_id=batch_id,
                fingerprint=fingerprint,
                priority=priority,
                alone=alone,
            )
            self._require_room(caller, plan)
            batch, warnings = plan.batch, plan.warnings
        except AutotuneError:
            # What was accepted stays accepted, whatever became of its task and grader since.
            if self.repository.get_batch(batch_id) is None:
                raise
        # The usual submission is a new one: that it is not is seen when it is stored.
        if batch is None or not self.repository.add_batch(batch):
            batch = self._resubmitted(batch_id, fingerprint)
            if batch.status == "accepted":
                return Submission(batch, replayed=True, warnings=warnings)
        self._finish(batch, list(_completions(batch, completions)), fenced=fenced)
        return Submission(batch, replayed=False, warnings=warnings)

    def resume(self, batch: Batch) -> bool:
        """Finish a fenced submission whose attempt is dead, without its body, or give it up.

        Returns:
            False where not all of its completions were stored: nothing of it was queued, and
            nothing ever will be, even if that attempt turns out to live.

        Raises:
            UnavailableError: an attempt is at work on it, or a store refused work.
        """
        if batch.status in ("accepted", "given_up"):
            return batch.status == "accepted"
        # Ours before it is looked at: the other attempt cannot queue it any more.
        batch = self._take_over(batch)
        stored = self.repository.get_many(batch.completion_ids)
        if len(stored) < batch.size:
            self._exchange(batch, status="given_up")
            return False
        self._finish(batch, [stored[id_] for id_ in batch.completion_ids], fenced=True)
        return True

    def give_up(self, organization_id: str, batch_id: str) -> bool:
        """See that a batch that is not there never comes to be; return False where it now is."""
        now = self.clock.now()
        return self.repository.add_batch(
            Batch(
                id=batch_id,
                organization_id=organization_id,
                fingerprint="",
                status="given_up",
                priority="normal",
                segments=[],
                estimated_score_time_ms=0,
                created_at=now,
                attempted_at=now,
            )
        )

    def _require_room(self, caller: Caller, plan: Plan) -> None:
        most = caller.limits.runs_per_request
        if plan.runs > most:
            raise TooManyRunsError(
                "each grader begins a run for each hundred completions; submit fewer graders' at a "
                "time",
                limit=LimitProblem(
                    name="runs per request", maximum=most, unit="runs", actual=plan.runs
                ),
            )
        self.repository.open_counts.require_room(caller, plan.batch.size)

    def _finish(self, batch: Batch, stored: Sequence[Completion], *, fenced: bool) -> None:
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        try:
            self.repository.add_all(stored)
            if fenced:
                batch = self._exchange(batch, status="accepting")
            self.queues.send(chunks_of(stored, panels), batch.priority)
        except Exception:
            # Whatever it was: a repetition need not wait until this attempt would be over.
            self.repository.mark_interrupted(batch)
            raise
        self.repository.mark_accepted(batch, due_at=self.clock.now() + FIRST_SWEEP_AFTER)

    def _resubmitted(self, batch_id: str, fingerprint: str) -> Batch:
        """Return the batch that came before with the same key: accepted, or ours to finish.

        Raises:
            IdempotencyKeyReusedError: it came with another body.
            UnavailableError: another attempt is at work on it, or it was given up.
        """
        before = self.repository.get_batch(batch_id)
        if before is None or before.status == "given_up":
            raise _in_progress(1)
        if before.fingerprint != fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
        return before if before.status == "accepted" else self._take_over(before)

    def _take_over(self, before: Batch) -> Batch:
        """Return the batch as ours to finish.

        Raises:
            UnavailableError: another attempt is at work, or took it over.
        """
        now = self.clock.now()
        age = (now - before.attempted_at).total_seconds()
        if before.status == "accepting" and age < _LONGEST_ATTEMPT_SECONDS:
            raise _in_progress(_LONGEST_ATTEMPT_SECONDS - age)
        return self._exchange(before, status="accepting")

    def _exchange(self, before: Batch, *, status: BatchStatus) -> Batch:
        """Store a batch with another status, or the same at a later time, if it is as it was read.

        Raises:
            UnavailableError: it is not.
        """
        after = before.model_copy(update={"status": status, "attempted_at": self.clock.now()})
        if not self.repository.claim_batch(before, after):
            raise _in_progress(1)
        return after


def _in_progress(seconds: float) -> UnavailableError:
    return UnavailableError(
        "the same submission is in progress", retry_after_seconds=math.ceil(seconds)
    )


def _completions(batch: Batch, completions: Sequence[NewCompletion]) -> Iterator[Completion]:
    for index, (segment, new) in enumerate(zip(batch.by_completion(), completions, strict=True)):
        header = batch.header(index, segment, model_id=new.model_id)
        yield Completion(
            **dict(header), prompt=new.prompt, response=new.response, metadata=new.metadata
        )


def _fingerprint(completions: Sequence[NewCompletion], priority: Priority) -> str:
    dumped = [completion.model_dump(mode="json") for completion in completions]
    document = json.dumps([priority, dumped], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()
