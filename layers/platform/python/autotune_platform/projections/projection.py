"""Projects decisions into events, statistics and metering of graders, and audit entries.

What is counted of verdicts comes from the table's stream in lists, each in the partition of its
batch, so that no other consumer of the stream counts the same batch. It comes at least once, and
two lists may have the same verdict. The sweeper projects what no list had, or the stream lost.
Opinions of a panel's members come in the same way: they are counted for their grader and not
published. The panel's own verdict is published, and counted for no grader.

A decision is published first. Then one transaction counts it, enters it in the audit log and adds
its index to the batch's checkpoint. So a decision in the checkpoint was published, and is never
counted again. A batch that is counted whole, opinions included, is closed.
"""

from collections.abc import Iterable, Mapping, Sequence

from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.projections.batch_decisions import BatchDecisions, by_batch
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.closing import BatchClosing
from autotune_platform.projections.counting import DecisionCounting, transactions
from autotune_platform.projections.latest import is_counted_whole, keys_of, latest_of
from autotune_platform.projections.models import Checkpoint, CheckpointKey
from autotune_platform.projections.publishing import DecisionPublisher
from autotune_platform.projections.versions import VersionWitness
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.changes import Change
from autotune_platform.verdicts.decisions import Decision, decisions_in
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import PanelRecords
from autotune_platform.verdicts.service import VerdictService

_ATTEMPTS = 10


@part
class VerdictProjection:
    """Publishes decisions and counts them, each once, and closes batches that are counted whole."""

    completions: CompletionService
    verdicts: VerdictService
    panels: PanelRecords
    checkpoints: CheckpointRepository
    publisher: DecisionPublisher
    counting: DecisionCounting
    closing: BatchClosing
    versions: VersionWitness

    def follow(self, changes: Sequence[Change]) -> None:
        """Project the decisions that changes of the table bring.

        Raises:
            UnavailableError: as ``project``.
            OrphanedVerdictError: as ``project``.
        """
        self.project(decision for change in changes for decision in decisions_in(change))

    def project(self, decisions: Iterable[Decision]) -> None:
        """Publish and count decisions; those that are counted already change nothing.

        Raises:
            UnavailableError: others kept counting some of the batches; call it again. The rest is
                projected.
            OrphanedVerdictError: a completion is in no batch, or a grader not in its panel.
        """
        refused: UnavailableError | None = None
        for some in transactions(decisions):
            batches = self.completions.batches({one.batch_id for one in some})
            panels = self.panels.get_many(one.panel_id for one in some if one.panel_id)
            try:
                self._project(by_batch(some, batches, panels), batches)
            except UnavailableError as error:
                refused = error
        if refused is not None:
            raise refused

    def catch_up(self, batch: Batch, *, decided: int) -> None:
        """Project what is decided of a batch that is not whole, and did not come here.

        Args:
            decided: how many of its completions have a verdict.

        Raises:
            UnavailableError: others kept counting the same batch; call it again.
        """
        if latest_of(batch, self.checkpoints.get_many(keys_of(batch))).size < decided:
            self._project_verdicts(batch)

    def complete(self, batch: Batch) -> None:
        """Finish the projection of a batch whose completions have all been decided.

        It reads from their table what never came here. It publishes ``batch.completed`` in any
        case, because that costs little.

        Raises:
            UnavailableError: others kept counting the same batch; call it again.
        """
        checkpoints = self.checkpoints.get_many(keys_of(batch))
        self.project(map(Decision.of, self._opinions_in(batch)))
        if is_counted_whole(batch, checkpoints):
            self.publisher.publish([], [(batch, latest_of(batch, checkpoints))])
        else:
            self._project_verdicts(batch)

    def _project_verdicts(self, batch: Batch) -> None:
        """Project the verdicts of all generations: each is counted, once."""
        keys = [key for number in range(batch.generation + 1) for key in batch.keys_in(number)]
        self.project(map(Decision.of, self.verdicts.find_all(keys).values()))

    def _opinions_in(self, batch: Batch) -> list[Verdict]:
        """Return the opinions of panels' members on a batch's completions, of all generations."""
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        if not panels:
            return []
        found: list[Verdict] = []
        for number in range(batch.generation + 1):
            keys = [key for key in batch.keys_in(number) if key.grader_id in panels]
            opinions = self.verdicts.opinions_of(
                [(key.completion_id, panels[key.grader_id]) for key in keys],
                {key.completion_id: number for key in keys},
            )
            found += [opinion for some in opinions.values() for opinion in some]
        return found

    def _project(
        self, due: Mapping[CheckpointKey, BatchDecisions], batches: Mapping[str, Batch]
    ) -> None:
        """Publish and count what is not counted yet, and close what is whole."""
        published: set[Decision] = set()
        concerned = [batches[id_] for id_ in dict.fromkeys(key.batch_id for key in due)]
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self.checkpoints.get_many(key for one in concerned for key in keys_of(one))
            new = {key: some.without_counted(before[key]) for key, some in due.items()}
            after = before | {key: some.added_to(before[key]) for key, some in new.items()}
            changes = [(before[key], after[key]) for key in due if after[key] is not before[key]]
            uncounted = [one for some in new.values() for one in some.all]
            if uncounted:
                # A decision is final, so a batch may be published as complete before it is counted.
                changed = {one.batch_id for one, _ in changes}
                completed = [
                    (batch, checkpoint)
                    for batch, checkpoint in _latest(concerned, after)
                    if batch.id in changed and checkpoint.size == batch.size
                ]
                unpublished = [one for one in uncounted if one not in published]
                self.publisher.publish(unpublished, completed)
                published.update(unpublished)
            if not uncounted or self.counting.count(uncounted, changes, batches):
                self.versions.see(uncounted)
                # Also what was counted before: whoever did may have died before it was closed.
                self.closing.close_whole(_latest(concerned, after))
                return
        raise UnavailableError("others count the same verdicts", retry_after_seconds=1)


def _latest(
    batches: Iterable[Batch], checkpoints: Mapping[CheckpointKey, Checkpoint]
) -> list[tuple[Batch, Checkpoint]]:
    return [(one, latest_of(one, checkpoints)) for one in batches]
