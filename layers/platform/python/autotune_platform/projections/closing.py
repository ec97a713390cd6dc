"""Closes batches of which everything is counted: the sweeper need not look at them."""

from collections.abc import Iterable

from aws_lambda_powertools import Logger

from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.projections.models import Checkpoint
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.verdicts.panels import PanelRecords

logger = Logger()

_CLOSED_AT_ONCE = 8


@part
class BatchClosing:
    """Closes batches that are counted whole; where that write is lost, the sweeper closes them."""

    batches: OpenBatches
    panels: PanelRecords

    def close_whole(self, checkpoints: Iterable[tuple[Batch, Checkpoint]]) -> None:
        """Close those open batches of which every verdict and every opinion is counted.

        A batch whose submission had not opened it when it was read is left to the sweeper, and so
        is one that was scored again: it sees to every generation.
        """
        whole = [
            batch
            for batch, checkpoint in checkpoints
            if batch.is_open
            and not batch.generation
            and checkpoint.size == batch.size
            and len(checkpoint.opinions) == self._opinions(batch)
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
