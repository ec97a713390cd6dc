"""Groups verdicts and opinions by batch, under the index of their completion in it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune_platform.completions.models import Batch
from autotune_platform.projections.models import Checkpoint
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel


class OrphanedVerdictError(Exception):
    """A verdict's completion is in no stored batch, or an opinion's grader is not in its panel."""


@dataclass(frozen=True)
class BatchVerdicts:
    """A batch's verdicts by the index of their completion, and opinions by their opinion index."""

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    opinions: dict[int, Verdict] = field(default_factory=dict)

    @property
    def all(self) -> list[Verdict]:
        """All verdicts and opinions."""
        return [*self.verdicts.values(), *self.opinions.values()]

    def without_counted(self, checkpoint: Checkpoint) -> "BatchVerdicts":
        """Return the verdicts and opinions that a checkpoint does not have yet."""
        return BatchVerdicts(
            {index: one for index, one in self.verdicts.items() if not checkpoint.holds(index)},
            {
                index: one
                for index, one in self.opinions.items()
                if index not in checkpoint.opinions
            },
        )

    def added_to(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a checkpoint that has all of these as well."""
        return checkpoint.after(self.verdicts, self.opinions)


def by_batch(
    verdicts: Iterable[Verdict], batches: Mapping[str, Batch], panels: Mapping[str, Panel]
) -> dict[str, BatchVerdicts]:
    """Return verdicts and opinions by batch.

    Raises:
        OrphanedVerdictError: a completion is in none of the batches, or a grader in no panel.
    """
    found: dict[str, BatchVerdicts] = defaultdict(BatchVerdicts)
    indexes = {
        batch_id: {id_: index for index, id_ in enumerate(batch.completion_ids)}
        for batch_id, batch in batches.items()
    }
    for verdict in verdicts:
        index = indexes.get(verdict.batch_id, {}).get(verdict.completion_id)
        if index is None:
            raise OrphanedVerdictError(f"{verdict.completion_id} is not in {verdict.batch_id}")
        if verdict.panel_id is None:
            found[verdict.batch_id].verdicts[index] = verdict
        else:
            member = _member_index(verdict, panels.get(verdict.panel_id))
            found[verdict.batch_id].opinions[Checkpoint.opinion_index(index, member)] = verdict
    return dict(found)


def _member_index(opinion: Verdict, panel: Panel | None) -> int:
    key = (opinion.grader_id, opinion.grader_version)
    members = [(one.grader_id, one.grader_version) for one in panel.members] if panel else []
    if key not in members:
        raise OrphanedVerdictError(f"{opinion.grader_id} is not in {opinion.panel_id}")
    return members.index(key)
