"""Stores the rate, leases and circuit of each scope, such as a grader.

Many functions make calls in one scope at the same time. Each change here is one conditional write,
so that together they stay within the scope's limits. A scope has the items ``rate``, ``turns``,
``circuit`` and ``leases#<lane>``, each below 1 KB. Each item expires a day after its last change,
when it no longer limits anything.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.leases import Leases
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates

_KEPT_SECONDS = 86_400
_RATE, _TURNS, _LEASES, _CIRCUIT = "rate", "turns", "leases", "circuit"

ResultT = TypeVar("ResultT")


class BudgetRepository:
    """Rate, concurrency and circuit of each scope in the ``budgets`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._states = VersionedStates(table, kept_seconds=_KEPT_SECONDS)

    def circuit(self, scope: str) -> Circuit:
        """Return the circuit of a scope as it is now."""
        return self._states.read((scope, _CIRCUIT), Circuit)

    def circuits(self, scopes: Iterable[str]) -> dict[str, Circuit]:
        """Return the circuits of those scopes that have any, as they are now."""
        found = self._states.read_many([(scope, _CIRCUIT) for scope in scopes], Circuit)
        return {scope: circuit for (scope, _), circuit in found.items()}

    def change_circuit(
        self, scope: str, now: float, change: Callable[[Circuit], tuple[Circuit, ResultT]]
    ) -> ResultT:
        """Change the circuit of a scope; return the result of the change that was stored.

        Raises:
            UnavailableError: too many others changed it at the same time.
        """
        return self._states.change((scope, _CIRCUIT), Circuit, now, change)

    def change_leases(
        self,
        scope: str,
        now: float,
        change: Callable[[Leases], tuple[Leases, ResultT]],
        *,
        lane: int = 0,
    ) -> ResultT:
        """Change the leases of one lane of a scope; return the result of the stored change.

        Raises:
            UnavailableError: too many others changed them at the same time.
        """
        return self._states.change((scope, f"{_LEASES}#{lane}"), Leases, now, change)

    def reserve_call(
        self, scope: str, now: float, *, interval: float, horizon: float
    ) -> tuple[float, bool]:
        """Reserve the next moment for a call; return it, and whether it was reserved.

        Moments are ``interval`` seconds apart, whichever functions reserve them (the generic cell
        rate algorithm, ITU-T I.371, with a burst of one). It takes one write, or two if others
        reserved before.

        Args:
            now: Unix seconds.
            horizon: how many seconds ahead a moment may lie. A later moment is not reserved.
        """
        after = self._table.advance(
            scope,
            _RATE,
            "next_call_at",
            by=interval,
            floor=now,
            ceiling=now + horizon,
            expires_at=int(now + _KEPT_SECONDS),
        )
        if after is not None:
            return after - interval, True
        item = self._table.get(scope, _RATE) or {}
        return item.get("next_call_at", now), False

    def reserve_turn(
        self, scope: str, not_before: float, *, seconds: float, until: float
    ) -> float | None:
        """Reserve the next turn, which lasts some seconds; return when it begins.

        Turns follow each other, whoever reserves them. It takes one write, or two where others wait
        already.

        Args:
            not_before: the earliest that it may begin, in Unix seconds.
            until: a turn that would begin after this is not reserved; None is returned then.
        """
        if until < not_before:
            return None
        after = self._table.advance(
            scope,
            _TURNS,
            "next_turn_at",
            by=seconds,
            floor=not_before,
            ceiling=until,
            expires_at=int(until + _KEPT_SECONDS),
        )
        return None if after is None else after - seconds

    def next_turn(self, scope: str) -> float:
        """Return when the next turn would begin, in Unix seconds; 0 where nobody ever waited."""
        item = self._table.get(scope, _TURNS) or {}
        return float(item.get("next_turn_at", 0))
