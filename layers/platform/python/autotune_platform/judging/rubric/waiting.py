"""Which completions wait for the end of a row."""

from collections.abc import Collection, Iterable, Sequence

from autotune_platform.judging.judge import Asker
from autotune_platform.judging.rubric.questions import row_id
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import OrderedRows
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader, VerdictKey


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

    def asked(self, questions: Iterable[VerdictKey], organization_id: str) -> dict[VerdictKey, Row]:
        """Return the row of each question, the last where it was asked again.

        What has none was not asked yet, or is not asked of a language model.
        """
        ids = {row_id(one.completion_id, one, organization_id): one for one in questions}
        return {ids[id_]: row for id_, row in self.ordered.last(ids).items()}
