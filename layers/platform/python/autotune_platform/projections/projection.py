"""Projects verdicts into events, statistics and metering of graders, and audit entries.

Verdicts come from the table's stream, at least once, in any order and grouping. The sweeper
projects those that the stream lost. Opinions of a panel's members come in the same way: they are
counted for their grader and not published. The panel's own verdict is published, and counted for no
grader.

A verdict is published first. Then one transaction counts it, enters it in the audit log and adds
its index to the batch's checkpoint. So a verdict in the checkpoint was published, and is never
counted again. The id of an event is derived from what happened, so publishing it again publishes
the same event.

A batch that is counted whole, opinions included, is closed: the sweeper need not look at it. Where
that write is lost, the sweeper closes it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from aws_lambda_powertools import Logger

from autotune.protocol.completions import VerdictCounts
from autotune.protocol.events import BatchCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.projections.batch_verdicts import BatchVerdicts, by_batch
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.decisions import DecisionAudit, entries
from autotune_platform.projections.models import Checkpoint
from autotune_platform.projections.statistics import GraderStatistics, counters
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.changes import Change
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.verdicts.stored_verdicts import verdict_in
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import EventPublisher

logger = Logger()

_ATTEMPTS = 10
_CLOSED_AT_ONCE = 8


@part
class VerdictProjection:
    """Publishes verdicts and counts them, each once."""

    batches: OpenBatches
    completions: CompletionService
    verdicts: VerdictService
    checkpoints: CheckpointRepository
    panels: PanelRecords
    statistics: GraderStatistics
    publisher: EventPublisher
    audit: DecisionAudit

    def follow(self, changes: Sequence[Change]) -> None:
        """Project the verdicts and opinions that changes of the table store.

        Raises:
            UnavailableError: as ``project``.
            OrphanedVerdictError: as ``project``.
        """
        self.project(verdict_in(change) for change in changes)

    def project(self, verdicts: Iterable[Verdict]) -> None:
        """Publish and count verdicts; those that are counted already change nothing.

        Raises:
            UnavailableError: others kept counting the same batches or graders; call it again.
            OrphanedVerdictError: a completion is in no batch, or a grader not in its panel.
        """
        for some in _transactions(verdicts):
            self._project(some)

    def complete(self, batch: Batch) -> None:
        """Finish the projection of a batch whose completions have all been decided.

        It reads verdicts that never came here from their table. It publishes ``batch.completed`` in
        any case, because that costs little.

        Raises:
            UnavailableError: others kept counting the same batch; call it again.
        """
        checkpoint = self.checkpoints.get_many([batch.id])[batch.id]
        self.project(self._opinions_in(batch))
        if checkpoint.size == batch.size:
            self.publisher.publish([batch_completed(batch, checkpoint)])
        else:
            self.project(self.verdicts.find_many(batch.verdict_keys).values())

    def _opinions_in(self, batch: Batch) -> list[Verdict]:
        """Return the opinions of panels' members on a batch's completions."""
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        found = self.verdicts.opinions_of(
            (completion_id, panels[grader_id])
            for completion_id, grader_id, _ in batch.verdict_keys
            if grader_id in panels
        )
        return [opinion for opinions in found.values() for opinion in opinions]

    def _project(self, verdicts: Sequence[Verdict]) -> None:
        batches = self.completions.batches({verdict.batch_id for verdict in verdicts})
        panels = self.panels.get_many(one.panel_id for one in verdicts if one.panel_id)
        self._count(by_batch(verdicts, batches, panels), batches)

    def _count(self, due: Mapping[str, BatchVerdicts], batches: Mapping[str, Batch]) -> None:
        """Publish and count the verdicts that are not counted yet."""
        published: set[str] = set()
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self.checkpoints.get_many(due)
            new = {id_: some.without_counted(before[id_]) for id_, some in due.items()}
            uncounted = [verdict for some in new.values() for verdict in some.all]
            after = {
                id_: some.added_to(before[id_]) if some.all else before[id_]
                for id_, some in new.items()
            }
            # A decision is final, so ``batch.completed`` may be published before the batch is
            # counted as complete. Publishing both events together costs one query of webhooks.
            events = [
                event
                for event in self._events(uncounted, after.values(), batches)
                if event.id not in published
            ]
            if events:
                self.publisher.publish(events)
                published |= {event.id for event in events}
            if not uncounted:
                return
            changes = [(before[id_], after[id_]) for id_, some in new.items() if some.all]
            additions = [
                *self.statistics.additions(uncounted),
                *self.audit.additions(uncounted, after),
            ]
            if self.checkpoints.advance(changes, additions):
                self._close_whole((checkpoint for _, checkpoint in changes), batches)
                return
        raise UnavailableError("others count the same verdicts", retry_after_seconds=1)

    def _close_whole(self, checkpoints: Iterable[Checkpoint], batches: Mapping[str, Batch]) -> None:
        """Close the batches of which every verdict and every opinion is counted."""
        whole = [
            batch
            for checkpoint in checkpoints
            for batch in [batches[checkpoint.batch_id]]
            if checkpoint.size == batch.size and len(checkpoint.opinions) == self._opinions(batch)
        ]
        if whole:
            in_parallel(self._close, whole, at_most=_CLOSED_AT_ONCE)

    def _close(self, batch: Batch) -> None:
        try:
            self.batches.close(batch)
        except REFUSALS:
            logger.warning("batch left for the sweeper to close", batch_id=batch.id, exc_info=True)

    def _opinions(self, batch: Batch) -> int | None:
        """Return how many opinions there are once all are given; None where people judge alone."""
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        if any(panel.is_human for panel in panels.values()):
            return None
        return sum(
            segment.count * len(panels[segment.grader_id].members)
            for segment in batch.segments
            if segment.grader_id in panels
        )

    @staticmethod
    def _events(
        uncounted: Iterable[Verdict], after: Iterable[Checkpoint], batches: Mapping[str, Batch]
    ) -> Iterator[Event]:
        for verdict in uncounted:
            # An opinion is only counted; it is published as a part of its panel's verdict.
            if not verdict.is_opinion:
                yield score_completed(verdict)
        for checkpoint in after:
            if checkpoint.size == batches[checkpoint.batch_id].size:
                yield batch_completed(batches[checkpoint.batch_id], checkpoint)


def _transactions(verdicts: Iterable[Verdict]) -> Iterator[list[Verdict]]:
    """Split verdicts into groups of one transaction each, each batch over as few as possible."""
    group: list[Verdict] = []
    items: set[Hashable] = set()
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.batch_id, verdict.grader_id)):
        touched = {verdict.batch_id, *counters(verdict), *entries(verdict)}
        if len(items | touched) > MAX_ADDITIONS:
            yield group
            group, items = [], set()
        group.append(verdict)
        items |= touched
    if group:
        yield group


def score_completed(verdict: Verdict) -> Event:
    """Return the event ``score.completed`` of a decided completion, in any state.

    Its data is the verdict as ``GET /api/v1/completions/{id}/score`` shows it.
    """
    return Event(
        id=derived_id(
            "evt",
            "score.completed",
            verdict.completion_id,
            verdict.grader_id,
            verdict.grader_version,
        ),
        type="score.completed",
        organization_id=verdict.organization_id,
        occurred_at=verdict.decided_at,
        data=verdict_on_wire(verdict).model_dump(mode="json", by_alias=True),
    )


def batch_completed(batch: Batch, checkpoint: Checkpoint) -> Event:
    """Return the event ``batch.completed`` of a batch whose completions are all decided.

    Args:
        checkpoint: the batch's checkpoint, which has all of its completions.
    """
    assert checkpoint.decided_at is not None
    counts = VerdictCounts(
        expected=batch.size,
        scored=checkpoint.count("scored"),
        abstained=checkpoint.count("abstained"),
        failed=checkpoint.count("failed"),
        canceled=checkpoint.count("canceled"),
        pending=batch.size - checkpoint.size,
    )
    data = BatchCompleted(batch_id=batch.id, counts=counts, created_at=batch.created_at)
    return Event(
        id=derived_id("evt", "batch.completed", batch.id),
        type="batch.completed",
        organization_id=batch.organization_id,
        occurred_at=checkpoint.decided_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
