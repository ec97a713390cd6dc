"""Panels: graders that judge a completion together, and what becomes of their opinions.

A panel stands where a grader's id and version stand: in completions, batches, verdicts and events.
It never changes, and its id follows from all that it says, so that tasks with the same graders in
the same versions share one.
"""

from collections.abc import Iterable, Sequence
from typing import Self

from autotune.protocol.ids import derived_id, is_id
from autotune.protocol.tasks import Aggregation, ReviewPolicy
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table

_PANEL = "panel"


class PanelMember(FrozenModel):
    """A grader of a panel, in the version that was registered when the panel was put together."""

    grader_id: str
    grader_version: str
    weight: float


class Panel(FrozenModel):
    """Graders that judge together.

    Attributes:
        quorum: how many of the members have to score, from 1 to their number.
        review: when a person is asked; None where nobody ever is.
        is_human: its only member is a person, who is asked about every completion.
    """

    id: str
    organization_id: str
    members: list[PanelMember]
    aggregation: Aggregation
    quorum: int
    review: ReviewPolicy | None = None
    is_human: bool = False

    @classmethod
    def of(
        cls,
        organization_id: str,
        members: Sequence[PanelMember],
        *,
        aggregation: Aggregation,
        quorum: int | None,
        review: ReviewPolicy | None,
        is_human: bool,
    ) -> Self:
        """Return the panel of these members; a quorum of None is all of them."""
        panel = cls(
            id="",
            organization_id=organization_id,
            members=list(members),
            aggregation=aggregation,
            quorum=quorum or len(members),
            review=review,
            is_human=is_human,
        )
        return panel.model_copy(update={"id": derived_id("pnl", panel.model_dump_json())})

    @property
    def version(self) -> str:
        """What stands where a grader's version stands."""
        return self.aggregation


class PanelRecords:
    """Panels in the ``completions`` table; what was read once is never read again."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[str, Panel] = {}

    def keep(self, panel: Panel) -> None:
        """Store a panel; storing it again changes nothing."""
        if panel.id not in self._known:
            self._table.put_new(
                {
                    "pk": panel.id,
                    "sk": _PANEL,
                    **panel.model_dump(mode="json", exclude={"id"}, exclude_none=True),
                }
            )
            self._known[panel.id] = panel

    def get(self, panel_id: str) -> Panel:
        """Return a panel.

        Raises:
            KeyError: there is none; nothing that is stored names one that is not.
        """
        return self.get_many([panel_id])[panel_id]

    def get_many(self, grader_ids: Iterable[str]) -> dict[str, Panel]:
        """Return those that are panels' ids, by id; other graders cost no read."""
        wanted = {id_ for id_ in grader_ids if is_id("pnl", id_)}
        unknown = wanted - self._known.keys()
        if unknown:
            items = self._table.get_many((id_, _PANEL) for id_ in unknown)
            for (pk, _), item in items.items():
                self._known[pk] = Panel.model_validate({**item, "id": pk})
        return {id_: self._known[id_] for id_ in wanted if id_ in self._known}
