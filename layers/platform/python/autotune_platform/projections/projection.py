"""What follows from verdicts: events, tallies, statistics and metering of graders, audit entries.

Verdicts come from the table's stream, at least once, in any order and grouping, and from the
sweeper for what the stream lost. So do the opinions of a panel's members, which are counted for
their grader and told to nobody; the panel's own verdict is told, and counted for no grader.
Each is told of before it is counted; it is counted and entered in the audit log in one transaction
with its place in the batch's tally: a place that the tally holds was told of, and is never counted
again. Events have ids that follow from what happened, so that telling again tells of the same
event.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.projections.decisions import DecisionAudit, entries
from autotune_platform.projections.events import batch_completed, score_completed
from autotune_platform.projections.models import Tally
from autotune_platform.projections.placing import Placed, placed
from autotune_platform.projections.statistics import GraderStatistics, counters
from autotune_platform.projections.tallies import TallyRepository
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import attempts
from autotune_platform.storage.changes import Change
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.verdicts.stored_verdicts import verdict_in
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.publisher import EventPublisher

_ATTEMPTS = 10


@part
class VerdictProjection:
    """Tells of verdicts and counts them, each once."""

    completions: CompletionService
    verdicts: VerdictService
    tallies: TallyRepository
    panels: PanelRecords
    statistics: GraderStatistics
    publisher: EventPublisher
    audit: DecisionAudit

    def follow(self, changes: Sequence[Change]) -> None:
        """Project the verdicts and opinions that changes of the table store.

        Raises:
            UnavailableError: as ``project``.
            UnknownPlaceError: as ``project``.
        """
        self.project(verdict_in(change) for change in changes)

    def project(self, verdicts: Iterable[Verdict]) -> None:
        """Tell of verdicts and count them; what is counted already changes nothing.

        Raises:
            UnavailableError: others kept counting the same batches or graders; do it again.
            UnknownPlaceError: a completion belongs to no batch.
        """
        for some in _transactions(verdicts):
            self._project(some)

    def complete(self, batch: Batch) -> None:
        """Do what is left to do for a batch whose completions have all been decided.

        Verdicts that never came here are read from their table; that the batch is complete is told
        in any case, because it costs little.

        Raises:
            UnavailableError: others kept counting the same batch; do it again.
        """
        tally = self.tallies.get_many([batch.id])[batch.id]
        self.project(self._opinions_in(batch))
        if tally.size == batch.size:
            self.publisher.publish([batch_completed(batch, tally)])
        else:
            self.project(self.verdicts.find_many(batch.verdict_keys).values())

    def _opinions_in(self, batch: Batch) -> list[Verdict]:
        """Return what members of panels said of a batch's completions."""
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
        self._count(placed(verdicts, batches, panels), batches)

    def _count(self, due: Mapping[str, Placed], batches: Mapping[str, Batch]) -> None:
        """Tell of what is not counted yet, and count it."""
        told: set[str] = set()
        for _ in attempts(_ATTEMPTS):
            before = self.tallies.get_many(due)
            new = {id_: some.without_counted(before[id_]) for id_, some in due.items()}
            uncounted = [verdict for some in new.values() for verdict in some.all]
            after = {
                id_: some.counted_in(before[id_]) if some.all else before[id_]
                for id_, some in new.items()
            }
            # What is to be counted is decided, and stays so: a batch may be told to be complete
            # before it is counted as such. Told together, both cost one look at the webhooks.
            events = [
                event
                for event in self._events(uncounted, after.values(), batches)
                if event.id not in told
            ]
            if events:
                self.publisher.publish(events)
                told |= {event.id for event in events}
            if not uncounted:
                return
            changes = [(before[id_], after[id_]) for id_, some in new.items() if some.all]
            additions = [
                *self.statistics.additions(uncounted),
                *self.audit.additions(uncounted, after),
            ]
            if self.tallies.advance(changes, additions):
                return
        raise UnavailableError("others count the same verdicts", retry_after_seconds=1)

    @staticmethod
    def _events(
        uncounted: Iterable[Verdict], after: Iterable[Tally], batches: Mapping[str, Batch]
    ) -> Iterator[Event]:
        for verdict in uncounted:
            # An opinion is nobody's verdict: it is counted, and told with the panel's.
            if not verdict.is_opinion:
                yield score_completed(verdict)
        for tally in after:
            if tally.size == batches[tally.batch_id].size:
                yield batch_completed(batches[tally.batch_id], tally)


def _transactions(verdicts: Iterable[Verdict]) -> Iterator[list[Verdict]]:
    """Split into groups that one transaction can count, each batch in as few as may be."""
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
