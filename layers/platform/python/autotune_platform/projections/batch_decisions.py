"""Groups decisions by batch, under the index of their completion in it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune_platform.completions.models import Batch
from autotune_platform.projections.models import Checkpoint
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.verdicts.panels import Panel


class OrphanedVerdictError(Exception):
    """A verdict's completion is in no stored batch, or an opinion's grader is not in its panel."""


@dataclass(frozen=True)
class BatchDecisions:
    """A batch's verdicts by the index of their completion, and opinions by their opinion index."""

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
) -> dict[str, BatchDecisions]:
    """Return verdicts and opinions by batch; of what is listed twice, one.

    Raises:
        OrphanedVerdictError: a completion is in none of the batches, or a grader in no panel.
    """
    found: dict[str, BatchDecisions] = defaultdict(BatchDecisions)
    for one in decisions:
        batch = batches.get(one.batch_id)
        if batch is None or one.index >= batch.size:
            raise OrphanedVerdictError(f"{one.index} is not in {one.batch_id}")
        if one.panel_id is None:
            found[one.batch_id].verdicts[one.index] = one
        else:
            member = _member_index(one, panels.get(one.panel_id))
            found[one.batch_id].opinions[Checkpoint.opinion_index(one.index, member)] = one
    return dict(found)


def _member_index(opinion: Decision, panel: Panel | None) -> int:
    key = (opinion.grader_id, opinion.grader_version)
    members = [(one.grader_id, one.grader_version) for one in panel.members] if panel else []
    if key not in members:
        raise OrphanedVerdictError(f"{opinion.grader_id} is not in {opinion.panel_id}")
    return members.index(key)
