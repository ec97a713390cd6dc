"""What rows were asked and answered, for those who had them asked and keep no copy."""

from collections.abc import Iterable

from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.parts import part


@part
class RowAnswers:
    """Reads and erases rows of all organisations, by ids that only their owner's records have."""

    rows: RowRepository
    texts: RowTexts

    def row(self, row_id: str) -> Row | None:
        """Return a row without its texts."""
        return self.rows.get(row_id)

    def text(self, row_id: str) -> str | None:
        """Return what a row was answered; None where it was not, or its texts are gone."""
        return self.texts_of([row_id]).get(row_id)

    def texts_of(self, row_ids: Iterable[str]) -> dict[str, str]:
        """Return what rows were answered, by id, without those that were not or are gone."""
        found = self.texts.outputs(row_ids)
        return {row_id: output.raw_output for row_id, output in found.items()}

    def erase(self, row_ids: Iterable[str]) -> bool:
        """Delete the texts of rows that have ended; return whether none of them is under way.

        Raises:
            UnavailableError: a store kept refusing some.
        """
        found = self.rows.get_many(row_ids).values()
        ended = [row.id for row in found if row.has_ended]
        if ended:
            self.texts.erase(ended)
        return len(ended) == len(found)
