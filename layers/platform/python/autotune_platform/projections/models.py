"""What is counted of a batch."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Self

from autotune.protocol.completions import VerdictState
from autotune.protocol.limits import MAX_TASK_GRADERS
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.models import Verdict


class Tally(FrozenModel):
    """Which completions of a batch are told of and counted, by their place in the batch.

    Attributes:
        version: how often it changed, so that of two writers who read the same one fails.
        decided: places of the completions in each state; a place is in at most one of them.
        opinions: slots of the opinions that are counted: a slot is ten times the completion's
            place, and the place of the grader in its panel.
        decided_at: the latest decision that is counted, opinions left out.
    """

    batch_id: str
    version: int = 0
    decided: Mapping[VerdictState, frozenset[int]] = {}
    opinions: frozenset[int] = frozenset()
    decided_at: datetime | None = None

    @staticmethod
    def slot(place: int, member: int) -> int:
        """Return the slot of the opinion that a panel's member has of the completion at a place.

        Slots are stored: a larger ``MAX_TASK_GRADERS`` needs other slots than tallies have by now.
        """
        return place * MAX_TASK_GRADERS + member

    def holds(self, place: int) -> bool:
        """Tell whether the completion at a place is counted."""
        return any(place in places for places in self.decided.values())

    def count(self, state: VerdictState) -> int:
        """Return how many completions are counted in a state."""
        return len(self.decided.get(state, ()))

    @property
    def size(self) -> int:
        """How many completions are counted."""
        return sum(len(places) for places in self.decided.values())

    def after(self, verdicts: Mapping[int, Verdict], opinions: Iterable[int] = ()) -> Self:
        """Return the tally with further verdicts, by place, and slots of further opinions.

        None of them may be counted before.
        """
        decided = {state: set(places) for state, places in self.decided.items()}
        for place, verdict in verdicts.items():
            decided.setdefault(verdict.state, set()).add(place)
        moments = [verdict.decided_at for verdict in verdicts.values()]
        moments += [self.decided_at] if self.decided_at else []
        return self.model_copy(
            update={
                "version": self.version + 1,
                "decided": {state: frozenset(places) for state, places in decided.items()},
                "opinions": self.opinions.union(opinions),
                "decided_at": max(moments, default=None),
            }
        )
