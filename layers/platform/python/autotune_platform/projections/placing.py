"""Where verdicts and opinions stand in their batch's tally."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune_platform.completions.models import Batch
from autotune_platform.projections.models import Tally
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel


class UnknownPlaceError(Exception):
    """A verdict is on a completion that no stored batch has, or is no member's of its panel."""


@dataclass(frozen=True)
class Placed:
    """Verdicts of one batch by the place of their completion, and opinions by their slot."""

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    opinions: dict[int, Verdict] = field(default_factory=dict)

    @property
    def all(self) -> list[Verdict]:
        """Everything that is placed."""
        return [*self.verdicts.values(), *self.opinions.values()]

    def without_counted(self, tally: Tally) -> "Placed":
        """Return what a tally does not count yet."""
        return Placed(
            {place: one for place, one in self.verdicts.items() if not tally.holds(place)},
            {slot: one for slot, one in self.opinions.items() if slot not in tally.opinions},
        )

    def counted_in(self, tally: Tally) -> Tally:
        """Return a tally that counts all of this as well."""
        return tally.after(self.verdicts, self.opinions)


def placed(
    verdicts: Iterable[Verdict], batches: Mapping[str, Batch], panels: Mapping[str, Panel]
) -> dict[str, Placed]:
    """Return verdicts and opinions by batch.

    Raises:
        UnknownPlaceError: a completion belongs to none of the batches, or an opinion to no panel.
    """
    found: dict[str, Placed] = defaultdict(Placed)
    places = {
        batch_id: {id_: place for place, id_ in enumerate(batch.completion_ids)}
        for batch_id, batch in batches.items()
    }
    for verdict in verdicts:
        place = places.get(verdict.batch_id, {}).get(verdict.completion_id)
        if place is None:
            raise UnknownPlaceError(f"{verdict.completion_id} is not in {verdict.batch_id}")
        if verdict.panel_id is None:
            found[verdict.batch_id].verdicts[place] = verdict
        else:
            slot = Tally.slot(place, _member(verdict, panels.get(verdict.panel_id)))
            found[verdict.batch_id].opinions[slot] = verdict
    return dict(found)


def _member(opinion: Verdict, panel: Panel | None) -> int:
    key = (opinion.grader_id, opinion.grader_version)
    members = [(one.grader_id, one.grader_version) for one in panel.members] if panel else []
    if key not in members:
        raise UnknownPlaceError(f"{opinion.grader_id} is not in {opinion.panel_id}")
    return members.index(key)
