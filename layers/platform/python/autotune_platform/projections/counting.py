"""Counts decisions: checkpoints, statistics, windows and audit entries, in one transaction."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from aws_lambda_powertools import Logger

from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_counts import OpenCounts
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.decisions import DecisionAudit, entries
from autotune_platform.projections.models import Checkpoint
from autotune_platform.projections.statistics import GraderStatistics, counters
from autotune_platform.projections.windows import DecisionWindows, window_items
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import MAX_ADDITIONS, Addition
from autotune_platform.verdicts.decisions import Decision

logger = Logger()

COUNTED = "verdicts counted"
"""Of a line in the log, whose ``platform_error_percent`` an alarm watches."""


@part
class DecisionCounting:
    """Counts decisions, each with the checkpoint that says so."""

    checkpoints: CheckpointRepository
    statistics: GraderStatistics
    windows: DecisionWindows
    audit: DecisionAudit
    open_counts: OpenCounts

    def count(
        self,
        decisions: Sequence[Decision],
        changes: Sequence[tuple[Checkpoint, Checkpoint]],
        batches: Mapping[str, Batch],
    ) -> bool:
        """Count decisions and advance their batches' checkpoints, or do nothing.

        Args:
            decisions: those that the checkpoints get.
            changes: each checkpoint before and after.
            batches: those of the decisions, by id.

        Returns:
            False where others wrote the same items; read the checkpoints again.
        """
        after = {checkpoint.key: checkpoint for _, checkpoint in changes}
        additions = [
            *self.statistics.additions(decisions),
            *self.windows.additions(decisions, batches),
            *self.audit.additions(decisions, after),
            *self._closed(decisions),
        ]
        if self.checkpoints.advance(changes, additions):
            ours = sum(one.reason_code == "platform_error" for one in decisions)
            percent = round(100 * ours / len(decisions), 3) if decisions else 0
            logger.info(COUNTED, verdicts=len(decisions), platform_error_percent=percent)
            return True
        self.statistics.leave_lane()
        self.open_counts.lane.leave()
        return False

    def _closed(self, decisions: Sequence[Decision]) -> list[Addition]:
        """Return what takes completions that are decided off those that are open."""
        verdicts = Counter(_organizations_of(decisions))
        return [self.open_counts.addition(id_, -count) for id_, count in verdicts.items()]


def _organizations_of(decisions: Iterable[Decision]) -> list[str]:
    """Return whose completions are decided, which an opinion does not do."""
    return [one.organization_id for one in decisions if one.panel_id is None]


def _place(one: Decision) -> tuple[str, str, int, str]:
    return one.organization_id, one.batch_id, one.generation, one.grader_id


def transactions(decisions: Iterable[Decision]) -> Iterator[list[Decision]]:
    """Split decisions into groups of one transaction each, each batch over as few as possible.

    Organisations share none: what holds up one, such as its audit log under load, is not to hold
    up another.
    """
    group: list[Decision] = []
    items: set[Hashable] = set()
    in_order = sorted(decisions, key=_place)
    for one in in_order:
        touched = {(one.batch_id, one.generation), *counters(one), *entries(one)}
        touched |= window_items(one)
        touched.update(_organizations_of([one]))
        is_anothers = bool(group) and group[-1].organization_id != one.organization_id
        if is_anothers or len(items | touched) > MAX_ADDITIONS:
            yield group
            group, items = [], set()
        group.append(one)
        items |= touched
    if group:
        yield group
