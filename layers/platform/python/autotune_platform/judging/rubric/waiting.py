"""Which completions wait for the end of a row."""

from collections.abc import Collection, Sequence

from autotune_platform.judging.judge import Asker
from autotune_platform.judging.rubric.questions import row_id
from autotune_platform.ledger.ordering import OrderedRows
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader


@part
class RowWaits:
    """Finds what waits for language models."""

    ordered: OrderedRows

    def awaited(self, completion_ids: Sequence[str], asker: OfGrader) -> Collection[str]:
        """Return those of a run's completions that a row under way is about.

        What was never asked has no row: the next round of the run asks it.
        """
        if not isinstance(asker, Asker):
            return ()
        ids = {row_id(id_, asker, asker.organization_id): id_ for id_ in completion_ids}
        return {ids[one] for one in self.ordered.under_way(ids)}
