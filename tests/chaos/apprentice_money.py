"""Looks at budgets while money is spent: bill ≤ committed ≤ limit, at each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tests.chaos.beside import Beside
from tests.chaos.invariants import Finding
from tests.chaos.tables import Item
from tests.chaos.teacher import Teacher

LOOKS_EVERY_SECONDS = 0.25
_COMMITTED, _SPENT = "committed#", "spent#"


class Budgets(Protocol):
    """Reads items, as ``Tables`` does."""

    def item(self, table: str, pk: str, sk: str) -> Item:
        """Return an item."""


@dataclass
class Looks:
    """Who looks at all scopes of an organisation, on a thread once it is started.

    Attributes:
        limits: of a day, in nano-USD, by scope.
    """

    tables: Budgets
    teacher: Teacher
    organization_id: str
    limits: Mapping[str, int]
    count: int = 0
    most: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    _beside: Beside = field(default_factory=Beside)

    def start(self) -> None:
        """Begin."""
        self._beside.start(self._run)

    def stop(self) -> None:
        """End, after a last look."""
        self._beside.stop()

    def finding(self) -> Finding:
        """Return what was seen."""
        return Finding("bill ≤ committed ≤ limit, at each look", self.count, self.violations)

    def settled_finding(self) -> Finding:
        """In the end nothing is set aside any more: what is committed is what was spent."""
        violations = []
        for scope in self.limits:
            item = self._scope(scope)
            reserved = _sum(item, _COMMITTED) - _sum(item, _SPENT)
            if reserved:
                violations.append(f"{scope} has {reserved} set aside")
        return Finding("nothing stays set aside", len(self.limits), violations)

    def spent(self, scope: str) -> int:
        """Return what a scope spent today."""
        return _sum(self._scope(scope), _SPENT)

    def _run(self) -> None:
        while not self._beside.is_over(after=LOOKS_EVERY_SECONDS):
            self.look()
        self.look()

    def look(self) -> None:
        """Look once."""
        # In this order: what is on the bill by now was committed before.
        billed = self.teacher.billed()
        committed = {scope: _days(self._scope(scope), _COMMITTED) for scope in self.limits}
        self.count += 1
        if billed > sum(committed[self.organization_id]):
            self.violations.append(f"billed {billed} of {committed[self.organization_id]}")
        for scope, limit in self.limits.items():
            most = max(committed[scope], default=0)
            self.most[scope] = max(self.most.get(scope, 0), most)
            if most > limit:
                self.violations.append(f"{scope} committed {most} of {limit}")

    def _scope(self, scope: str) -> Item:
        return self.tables.item("Budgets", f"money#{scope}", "limits")


def _sum(item: Item, prefix: str) -> int:
    """Return what all days of an item have together."""
    return sum(_days(item, prefix))


def _days(item: Item, prefix: str) -> list[int]:
    """Return the numbers of days, the only periods whose names have ten characters."""
    length = len(prefix) + len("2026-11-27")
    return [
        int(value)
        for name, value in item.items()
        if name.startswith(prefix) and len(name) == length
    ]
