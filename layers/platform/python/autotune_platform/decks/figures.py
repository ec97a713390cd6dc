"""Figures of decks that lists show: kept as they come about, so that a list reads an item a deck.

They lie in one item beside the deck: what was paid is added by the write that ends a run, or that
notes what a proposal of edits has paid; how far a grader agrees with people is noted by whoever
reads that.
"""

import json
from collections.abc import Iterable

from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.ids import is_id
from autotune_platform.decks.items import FIGURES
from autotune_platform.decks.models import DeckFigures, MeasuredGrader
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import Add, Write

_SPENT = "spent"
_READ = "read"


class FiguresRepository:
    """Figures in the table ``decks``."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of(self, deck_ids: Iterable[str]) -> dict[str, DeckFigures]:
        """Return the figures of those decks that have some, by id."""
        found = self._table.get_many((deck_id, FIGURES) for deck_id in deck_ids)
        return {pk: _figures(item) for (pk, _), item in found.items()}

    def note(self, organization_id: str, deck_id: str, measured: MeasuredGrader) -> None:
        """Keep how far a grader agrees with people; the latest that is noted stands.

        Raises:
            UnavailableError: the table is busy.
        """
        self._table.transact(
            [
                Add(
                    pk=deck_id,
                    sk=FIGURES,
                    name=_READ,
                    by=1,
                    changes={
                        "organization_id": organization_id,
                        measured.grader_id: compact_sorted(measured.model_dump(mode="json")),
                    },
                )
            ]
        )


def spent(organization_id: str, deck_id: str, nano_usd: int) -> Write:
    """Return what adds a cost to its deck's, to be written with what was paid for."""
    changes = {"organization_id": organization_id}
    return Add(pk=deck_id, sk=FIGURES, name=_SPENT, by=nano_usd, changes=changes)


def _figures(item: Item) -> DeckFigures:
    measured = [
        MeasuredGrader.model_validate(json.loads(value))
        for name, value in sorted(item.items())
        if is_id("grd", name)
    ]
    return DeckFigures(spent_nano_usd=int(item.get(_SPENT, 0)), agreement=measured)
