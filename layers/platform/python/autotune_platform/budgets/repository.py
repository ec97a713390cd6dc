"""Where graders' limits and circuits are kept while they are at work.

Many functions call one grader at the same time; each change here is one conditional write, so that
together they stay within its limits. Items are ``<grader id>`` with ``rate``, ``leases`` and
``circuit``; each deletes itself a day after its last change, when it says nothing any more.
"""

from collections.abc import Callable
from typing import TypeVar

from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.leases import Leases
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates

_KEPT_SECONDS = 86_400
_RATE, _LEASES, _CIRCUIT = "rate", "leases", "circuit"

ResultT = TypeVar("ResultT")


class BudgetRepository:
    """Rate, concurrency and circuit of each grader in the ``budgets`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._states = VersionedStates(table, kept_seconds=_KEPT_SECONDS)

    def circuit(self, grader_id: str) -> Circuit:
        """Return a grader's circuit as it is now."""
        return self._states.read((grader_id, _CIRCUIT), Circuit)

    def change_circuit(
        self, grader_id: str, now: float, change: Callable[[Circuit], tuple[Circuit, ResultT]]
    ) -> ResultT:
        """Change a grader's circuit; return what the change that was stored told beside it.

        Raises:
            UnavailableError: too many others changed it at the same time.
        """
        return self._states.change((grader_id, _CIRCUIT), Circuit, now, change)

    def change_leases(
        self, grader_id: str, now: float, change: Callable[[Leases], tuple[Leases, ResultT]]
    ) -> ResultT:
        """Change a grader's leases; return what the change that was stored told beside it.

        Raises:
            UnavailableError: too many others changed them at the same time.
        """
        return self._states.change((grader_id, _LEASES), Leases, now, change)

    def reserve_call(
        self, grader_id: str, now: float, *, interval: float, horizon: float
    ) -> tuple[float, bool]:
        """Reserve the next moment for a call; return it, and whether it was reserved.

        Moments are ``interval`` seconds apart, whoever reserves them (the generic cell rate
        algorithm, ITU-T I.371, with a burst of one). One write, two where others reserved before.

        Args:
            now: Unix seconds.
            horizon: how many seconds ahead a moment may lie; beyond, none is reserved.
        """
        after = self._table.advance(
            grader_id,
            _RATE,
            "next_call_at",
            by=interval,
            floor=now,
            ceiling=now + horizon,
            expires_at=int(now + _KEPT_SECONDS),
        )
        if after is not None:
            return after - interval, True
        item = self._table.get(grader_id, _RATE) or {}
        return item.get("next_call_at", now), False
