"""Groups decisions by batch and generation, under the index of their completion in it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune_platform.completions.models import Batch
from autotune_platform.projections.models import Checkpoint, CheckpointKey
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.verdicts.panels import Panel


class OrphanedVerdictError(Exception):
    """A verdict's completion is in no stored batch, or an opinion's grader is not in its panel."""


@dataclass(frozen=True)
class BatchDecisions:
    """A batch's verdicts of one generation by the index of their completion, and its opinions.

    Opinions are named by their opinion index.
    """

    verdicts: dict[int, Decision] = field(default_factory=dict)
    opinions: dict[int, Decision] = field(default_factory=dict)

    @property
    def all(self) -> list[Decision]:
        """All verdicts and opinions."""
        return [*self.verdicts.values(), *self.opinions.values()]

    def without_counted(self, checkpoint: Checkpoint) -> "BatchDecisions":
        """Return the verdicts and opinions that a checkpoint does not have yet."""
        return BatchDecisions(
            {index: one for index, one in self.verdicts.items() if not checkpoint.holds(index)},
            {
                index: one
                for index, one in self.opinions.items()
                if index not in checkpoint.opinions
            },
        )

    def added_to(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a checkpoint that has all of these as well; the same one where there are none."""
        return checkpoint.after(self.verdicts, self.opinions) if self.all else checkpoint


def by_batch(
    decisions: Iterable[Decision], batches: Mapping[str, Batch], panels: Mapping[str, Panel]
) -> dict[CheckpointKey, BatchDecisions]:
    """Return verdicts and opinions by batch and generation; of what is listed twice, one.

    Raises:
        OrphanedVerdictError: a completion is in none of the batches, or a grader in no panel.
    """
    found: dict[CheckpointKey, BatchDecisions] = defaultdict(BatchDecisions)
    for one in decisions:
        batch = batches.get(one.batch_id)
        if batch is None or one.index >= batch.size or one.generation > batch.generation:
            raise OrphanedVerdictError(f"{one.index} is not in {one.batch_id}")
        some = found[CheckpointKey(one.batch_id, one.generation)]
        if one.panel_id is None:
            some.verdicts[one.index] = one
        else:
            member = _member_index(one, panels.get(one.panel_id))
            some.opinions[Checkpoint.opinion_index(one.index, member)] = one
    return dict(found)


def _member_index(opinion: Decision, panel: Panel | None) -> int:
    key = (opinion.grader_id, opinion.grader_version)
    members = [(one.grader_id, one.grader_version) for one in panel.members] if panel else []
    if key not in members:
        raise OrphanedVerdictError(f"{opinion.grader_id} is not in {opinion.panel_id}")
    return members.index(key)
