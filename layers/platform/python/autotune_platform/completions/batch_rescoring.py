"""Scoring some of a batch again: a later generation of it, which a repeated request meets."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autotune.protocol.limits import MAX_GENERATIONS
from autotune.protocol.rescoring import RescoredBatch, RescoreResponse, SkipReason
from autotune_platform.completions.chunks import chunks_of
from autotune_platform.completions.generations import Generation
from autotune_platform.completions.models import (
    CHUNK_COMPLETIONS,
    FIRST_SWEEP_AFTER,
    Batch,
    Completion,
)
from autotune_platform.completions.propagating import GenerationPropagation
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.sleeps import places_of
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import IdempotencyKeyReusedError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService

_ATTEMPTS = 5


@dataclass(frozen=True)
class Asked:
    """A request as each batch sees it.

    Attributes:
        id: follows from the idempotency key where there is one.
        before: only what was decided before then; None for whenever.
    """

    id: str
    fingerprint: str
    states: Collection[str]
    reason_codes: Collection[str]
    deadline_seconds: int | None
    before: datetime | None = None

    def wants(self, verdict: Verdict) -> bool:
        """Return whether a verdict is one that is to be replaced."""
        if self.before is not None and verdict.decided_at >= self.before:
            return False
        return (not self.states or verdict.state in self.states) and (
            not self.reason_codes or verdict.reason_code in self.reason_codes
        )


@dataclass
class Outcome:
    """What has become of the completions of a request.

    Attributes:
        again: how many it scored again; the batches list also those that it had before.
        runs: how many runs it begins.
    """

    again: int = 0
    runs: int = 0
    batches: list[RescoredBatch] = field(default_factory=list)
    skipped: Counter[SkipReason] = field(default_factory=Counter)

    @property
    def rescored(self) -> int:
        """How many completions are scored again."""
        return sum(one.count for one in self.batches)

    def of_task(self, next_token: str | None = None) -> RescoreResponse:
        """Return the answer about a task, most of whose completions nobody looked at."""
        for reason in ("pending", "not_asked_for"):
            self.skipped.pop(reason, None)
        return self.on_wire(next_token)

    def on_wire(self, next_token: str | None = None) -> RescoreResponse:
        """Return the answer."""
        return RescoreResponse(
            rescored=self.rescored,
            batches=self.batches,
            skipped=dict(self.skipped),
            next_token=next_token,
        )


@part
class BatchRescoring:
    """Gives completions that have a verdict a later generation, and queues them for their graders.

    The batch is written first. Whatever stops after that, the sweeper brings to its end. A batch
    notes which request scored what again, so that a repeated request with an idempotency key makes
    no second generation of a completion.
    """

    repository: CompletionRepository
    verdicts: VerdictService
    propagation: GenerationPropagation
    queues: ChunkQueues
    panels: PanelRecords
    clock: Clock = SYSTEM_CLOCK

    def rescore(
        self, batch: Batch, places: Collection[int], asked: Asked, outcome: Outcome
    ) -> None:
        """Score completions of a batch again, but those that the same request has had before."""
        for _ in BUSY.attempts(_ATTEMPTS):
            before = _of_request(batch, asked)
            had = {place for place in places if any(one.has(place) for one in before)}
            again, skipped = self._choose(batch, [at for at in places if at not in had], asked)
            if again:
                latest = self._next_generation(batch, again, asked)
                due_at = self.clock.now() + FIRST_SWEEP_AFTER
                if not self.repository.add_generation(batch, latest, due_at=due_at):
                    batch = self.repository.get_batch(batch.id) or batch
                    continue
                later = {"generation": latest.number, "generations": [*batch.generations, latest]}
                batch = batch.model_copy(update=later)
            outcome.again += len(again)
            outcome.skipped.update(skipped)
            if had or again:
                outcome.runs += self._queue(batch, sorted(had | again.keys()))
                number = max(batch.generation_of(place) for place in had | again.keys())
                outcome.batches.append(
                    RescoredBatch(batch_id=batch.id, generation=number, count=len(had) + len(again))
                )
            return
        raise UnavailableError("the batch is busy", retry_after_seconds=1)

    def most_runs(self, batch: Batch, places: Collection[int]) -> int:
        """Return how many runs completions of a batch begin if all of them are scored again."""
        segments = list(batch.by_completion())
        judged = Counter(
            (segments[place].grader_id, segments[place].grader_version) for place in places
        )
        panels = self.panels.get_many(grader_id for grader_id, _ in judged)
        return sum(
            math.ceil(count / CHUNK_COMPLETIONS)
            * (len(panels[grader_id].members) if grader_id in panels else 1)
            for (grader_id, _), count in judged.items()
        )

    def _choose(
        self, batch: Batch, places: Sequence[int], asked: Asked
    ) -> tuple[dict[int, Completion], Counter[SkipReason]]:
        """Return the completions that can be scored again, and why others are not."""
        keys = batch.verdict_keys
        verdicts = self.verdicts.find_many(keys[place] for place in places)
        decided = {at: verdicts.get(keys[at].completion_id) for at in places}
        if batch.status != "accepted":
            decided = dict.fromkeys(places)
        skipped: Counter[SkipReason] = Counter()
        skipped["pending"] = sum(verdict is None for verdict in decided.values())
        wanted = [at for at, verdict in decided.items() if verdict and asked.wants(verdict)]
        skipped["not_asked_for"] = len(places) - skipped["pending"] - len(wanted)
        texts = self.repository.get_many(keys[at].completion_id for at in wanted)
        again = {at: one for at in wanted if (one := texts.get(keys[at].completion_id))}
        skipped["text_gone"] = len(wanted) - len(again)
        if batch.generation >= MAX_GENERATIONS:
            skipped["too_many_generations"], again = len(again), {}
        return again, +skipped

    def _next_generation(
        self, batch: Batch, places: Mapping[int, Completion], asked: Asked
    ) -> Generation:
        ids = [one.id for one in places.values()]
        return Generation(
            number=batch.generation + 1,
            places=places_of(batch.id, ids),
            requested_at=self.clock.now(),
            deadline_seconds=asked.deadline_seconds,
            request_id=asked.id,
            fingerprint=asked.fingerprint,
            sweeps=batch.sweeps,
        )

    def _queue(self, batch: Batch, places: Sequence[int]) -> int:
        """Queue what has no verdict of its latest generation, once everything knows of that.

        Returns how many runs that begins.

        In the chunks that it was first queued in: a run's id follows from the completions that it
        serves, so that a repeated request begins no other run beside one that is under way.
        """
        self.propagation.propagate(batch)
        in_order = batch.verdict_keys
        keys = [in_order[place] for place in places]
        decided = self.verdicts.find_many(keys)
        if len(decided) == len(keys):
            return 0
        texts = self.repository.get_many(key.completion_id for key in keys)
        stored = [texts[key.completion_id] for key in keys if key.completion_id in texts]
        panels = self.panels.get_many(one.grader_id for one in stored)
        pending = [
            chunk
            for chunk in chunks_of(stored, panels)
            if any(id_ not in decided for id_ in chunk.completion_ids)
        ]
        self.queues.send(pending, batch.priority)
        return len(pending)


def _of_request(batch: Batch, asked: Asked) -> list[Generation]:
    """Return the generations of a batch that a request made.

    Raises:
        IdempotencyKeyReusedError: the key came before with another body.
    """
    made = [one for one in batch.generations if one.request_id == asked.id]
    if any(one.fingerprint != asked.fingerprint for one in made):
        raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
    return made
