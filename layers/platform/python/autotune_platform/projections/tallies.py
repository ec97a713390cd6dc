"""Where it is stored which verdicts of a batch are counted."""

from collections.abc import Iterable, Sequence, Set

from autotune.protocol.completions import VerdictState
from autotune_platform.projections.models import Tally
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

_TALLY = "tally"
_OPINIONS = "opinions"
_STATES: tuple[VerdictState, ...] = ("scored", "abstained", "failed", "canceled")


class TallyRepository:
    """Tallies in the ``completions`` table, beside their batch."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_many(self, batch_ids: Iterable[str]) -> dict[str, Tally]:
        """Return the tally of each batch, strongly consistent; an empty one where there is none."""
        wanted = dict.fromkeys(batch_ids)
        items = self._table.get_many((batch_id, _TALLY) for batch_id in wanted)
        return {batch_id: _tally(batch_id, items.get((batch_id, _TALLY))) for batch_id in wanted}

    def advance(
        self, changes: Sequence[tuple[Tally, Tally]], additions: Sequence[Addition]
    ) -> bool:
        """Write tallies, each before and after, together with what their verdicts add elsewhere.

        Returns:
            False where nothing was written, because a tally changed or others wrote the same items.
        """
        written = [self._addition(before, after) for before, after in changes]
        return self._table.add_together([*written, *additions])

    def _addition(self, before: Tally, after: Tally) -> Addition:
        changes: dict[str, int | str] = {"version": after.version}
        if after.decided_at is not None:
            changes["decidedAt"] = after.decided_at.isoformat()
        members: dict[str, Set[int]] = {
            state: places - before.decided.get(state, frozenset())
            for state, places in after.decided.items()
        }
        return Addition(
            table=self._table.name,
            pk=after.batch_id,
            sk=_TALLY,
            members={**members, _OPINIONS: after.opinions - before.opinions},
            changes=changes,
            only_if={"version": before.version or None},
        )


def _tally(batch_id: str, item: Item | None) -> Tally:
    if item is None:
        return Tally(batch_id=batch_id)
    return Tally(
        batch_id=batch_id,
        version=item["version"],
        decided={
            state: frozenset(int(place) for place in item[state])
            for state in _STATES
            if state in item
        },
        opinions=frozenset(int(slot) for slot in item.get(_OPINIONS, ())),
        decided_at=item.get("decidedAt"),
    )
