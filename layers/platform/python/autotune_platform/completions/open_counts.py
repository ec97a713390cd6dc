"""How many completions of an organisation are accepted and not yet decided.

Whoever makes completions pending adds them in the transaction that says so, and the projection
takes each off in the transaction that counts its decision: so each is added and taken off once. A
decision may be counted before its submission is, and what one item has may be below zero: their
sum is the count.
"""

from dataclasses import dataclass, field
from datetime import datetime

from cachetools import TTLCache

from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.runtime.errors import TooManyOpenCompletionsError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.lanes import Lane
from autotune_platform.storage.table import Table
from autotune_platform.windows.counters import WindowCounters
from autotune_platform.windows.grains import OF_ORGANIZATION

_OPEN = "open"
_COUNT_HOLDS_SECONDS = 10
_MOST_COUNTED = 1_024
_RETRY_AFTER_SECONDS = 30


@dataclass
class _Known:
    """What was counted when it was read, and what this process has added since."""

    count: int


@part
class OpenCounts:
    """Counts in the ``completions`` table."""

    table: Table
    lane: Lane = field(default_factory=Lane)
    _counted: TTLCache[str, _Known] = field(
        default_factory=lambda: TTLCache(_MOST_COUNTED, _COUNT_HOLDS_SECONDS), init=False
    )

    def addition(self, organization_id: str, by: int) -> Addition:
        """Return what adds to an organisation's count, to be written with what it is about."""
        lane = f"{_OPEN}#{self.lane.number}"
        return Addition(
            table=self.table.name, pk=_pk(organization_id), sk=lane, numbers={_OPEN: by}
        )

    def opened(self, organization_id: str, count: int, *, at: datetime) -> list[Addition]:
        """Return what counts completions as open, and as submitted in the windows of a moment.

        All of it goes into one transaction, so that each is counted once in both.
        """
        submitted = WindowCounters(self.table).submitted(
            organization_id, OF_ORGANIZATION, at, count, self.lane.number
        )
        return [self.addition(organization_id, count), *submitted]

    def counted(self, organization_id: str) -> int:
        """Return how many are open, as they are now."""
        lanes = self.table.items(_pk(organization_id))
        return sum(lane[_OPEN] for lane in lanes)

    def added(self, organization_id: str, by: int) -> None:
        """Note that an addition was written, so that the next question here knows of it."""
        # Not stored anew: who submits all the time would never read what others counted.
        known = self._counted.get(organization_id)
        if known is not None:
            known.count += by

    def require_room(self, caller: Caller, more: int) -> None:
        """Require that so many more do not make too many, as was known ten seconds ago.

        Several who ask at the same time may pass the limit together, each by what it brings.

        Raises:
            TooManyOpenCompletionsError: they do.
        """
        most, count = caller.limits.open_completions, self._count(caller.organization_id)
        if count + more > most:
            raise TooManyOpenCompletionsError(
                f"{count} completions are undecided, and these are {more} more",
                limit=LimitProblem(
                    name="open completions", maximum=most, unit="completions", actual=count + more
                ),
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )

    def _count(self, organization_id: str) -> int:
        known = self._counted.get(organization_id)
        if known is None:
            known = self._counted[organization_id] = _Known(self.counted(organization_id))
        return known.count


def _pk(organization_id: str) -> str:
    return f"open#{organization_id}"
