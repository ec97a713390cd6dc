"""Finding what is lost of a batch; redriving or ending it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from autotune_platform.completions.chunks import chunks_of
from autotune_platform.completions.models import CHUNK_COMPLETIONS, Batch, Chunk
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.propagating import GenerationPropagation
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.completions.service import CompletionService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.verdicts.judgements import Judgement, opinion_of, verdict_of
from autotune_platform.verdicts.models import CompletionHeader, GradedBy, VerdictKey
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService

_WHOLE_SWEEPS = 4
_NEVER = datetime.max.replace(tzinfo=UTC)


@part
class BatchRecovery:
    """Finds what is lost of overdue batches, and redrives or ends it."""

    batches: OpenBatches
    completions: CompletionService
    queues: ChunkQueues
    verdicts: VerdictService
    panels: PanelRecords
    resolver: PanelResolver
    propagation: GenerationPropagation
    clock: Clock = SYSTEM_CLOCK

    def examine(self, batch: Batch) -> tuple[list[str], dict[str, datetime]]:
        """Decide what panels can decide; return what is lost, and until when people are waited for.

        What a person was asked is not lost: redriving it would change nothing.
        """
        self.propagation.propagate(batch)
        pending = self.pending(batch)
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        judged = {key.completion_id for key in batch.verdict_keys if key.grader_id in panels}
        judged.intersection_update(pending)
        if not judged:
            return pending, {}
        with self.verdicts.listing():
            awaiting = self.resolver.resolve(self._headers(batch, judged), run_id=None)
        return [id_ for id_ in self.pending(batch) if id_ not in awaiting], awaiting

    def pending(self, batch: Batch) -> list[str]:
        """Return the completions of a batch that have no verdict."""
        decided = self.verdicts.find_many(batch.verdict_keys)
        return [
            completion_id for completion_id in batch.completion_ids if completion_id not in decided
        ]

    def unanswered(self, batch: Batch, pending: Sequence[str]) -> dict[str, list[VerdictKey]]:
        """Return which graders have not answered yet about each completion without a verdict.

        Each is what would find the answer: of a panel, opinions that its members have not given.
        """
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        keys = {key.completion_id: key for key in batch.verdict_keys}
        judged = {
            id_: panels[keys[id_].grader_id] for id_ in pending if keys[id_].grader_id in panels
        }
        later = batch.later_generations
        opinions = self.verdicts.opinions_of(judged.items(), later) if judged else {}
        given = {one.key for some in opinions.values() for one in some}
        asked = {
            id_: [
                keys[id_]._replace(grader_id=one.grader_id, grader_version=one.grader_version)
                for one in judged[id_].members
            ]
            if id_ in judged
            else [keys[id_]]
            for id_ in pending
        }
        return {id_: [one for one in some if one not in given] for id_, some in asked.items()}

    def redrive(self, batch: Batch, pending: Sequence[str], *, due_at: datetime) -> bool:
        """Queue what is pending in new runs; return False where another sweeper did.

        Every member of a panel is asked but those whose run sleeps: those that have given their
        opinion are not called.
        """
        if not self.batches.claim(batch, due_at=due_at):
            return False
        # Without their text they cannot be judged, and what expires has its deadline by then.
        now = self.clock.now()
        headers = batch.headers(pending)
        expired = [id_ for id_ in pending if (headers[id_].expires_at or _NEVER) <= now]
        with self.verdicts.listing():
            self._decide(batch, expired)
        stored = self.completions.load(id_ for id_ in pending if id_ not in expired).values()
        panels = self.panels.get_many(completion.grader_id for completion in stored)
        # One text may end every function that reads it: so it is alone in its run before long.
        # Not at once: what only lacks functions would make more runs of itself.
        most = max(1, CHUNK_COMPLETIONS >> max(0, batch.latest_sweeps - _WHOLE_SWEEPS))
        chunks = chunks_of(stored, panels, redrive=batch.sweeps + 1, most=most)
        self.queues.send(_awake(batch, chunks, now), batch.priority)
        return True

    def end(self, batch: Batch, pending: Sequence[str]) -> None:
        """End what is out of time as ``failed`` with ``deadline_exceeded``.

        A panel decides without the opinions that are missing then.
        """
        with self.verdicts.listing():
            self._end(batch, pending)

    def _end(self, batch: Batch, pending: Sequence[str]) -> None:
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        headers = self._headers(batch, pending)
        missing = self.unanswered(batch, pending)
        judged = {id_: one for id_, one in headers.items() if one.grader_id in panels}
        at, failure = self.clock.now(), Judgement(reason_code="deadline_exceeded")
        for completion_id, header in judged.items():
            for asked in missing[completion_id]:
                member = GradedBy(
                    grader_id=asked.grader_id,
                    grader_version=asked.grader_version,
                    panel_id=header.grader_id,
                    generation=asked.generation,
                )
                self.verdicts.add(opinion_of(verdict_of(header, failure, at=at), member))
        self.resolver.resolve(judged, run_id=None)
        self._decide(batch, [id_ for id_ in pending if id_ not in judged])

    def _decide(self, batch: Batch, pending: Sequence[str]) -> None:
        failure = Judgement(reason_code="deadline_exceeded")
        for header in self._headers(batch, pending).values():
            self.verdicts.add(verdict_of(header, failure, at=self.clock.now()))

    def _headers(
        self, batch: Batch, completion_ids: Collection[str]
    ) -> dict[str, CompletionHeader]:
        """Return what is known; an item that expired is gone, and with it the model's name."""
        stored = batch.current(self.completions.headers(completion_ids))
        return {**batch.headers(sorted(completion_ids)), **stored}


def _awake(batch: Batch, chunks: Iterable[Chunk], now: datetime) -> Iterator[Chunk]:
    """Yield chunks without what a run sleeps for that asks the same grader."""
    for chunk in chunks:
        lost = [
            id_ for id_ in chunk.completion_ids if not batch.sleep_of(id_, chunk.grader_id, now)
        ]
        if lost:
            yield chunk.model_copy(update={"completion_ids": lost})
