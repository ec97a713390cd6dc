"""Looks at budgets while money is spent: bill ≤ committed ≤ limit, at each of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from autotune.protocol.periods import BudgetPeriod
from autotune_platform.budgets.scopes import kind_of
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
        kinds: of the periods that have these limits.
        billed_before: in days that the budgets do not have any more.
    """

    tables: Budgets
    teacher: Teacher
    organization_id: str
    limits: Mapping[str, int]
    kinds: Collection[BudgetPeriod] = ("day",)
    billed_before: int = 0
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
        billed = self.teacher.billed() - self.billed_before
        items = {scope: self._scope(scope) for scope in self.limits}
        self.count += 1
        committed = _sum(items[self.organization_id], _COMMITTED)
        if billed > committed:
            self.violations.append(f"billed {billed} of {committed}")
        for scope, limit in self.limits.items():
            for kind in self.kinds:
                used = _used(items[scope], _COMMITTED, kind)
                most = max(used.values(), default=0)
                self.most[scope] = max(self.most.get(scope, 0), most)
                if most > limit:
                    self.violations.append(f"{scope} committed {used} of {limit}")

    def _scope(self, scope: str) -> Item:
        return self.tables.item("Budgets", f"money#{scope}", "limits")


def _sum(item: Item, prefix: str) -> int:
    """Return what all days of an item have together."""
    return sum(_used(item, prefix, "day").values())


def _used(item: Item, prefix: str, kind: BudgetPeriod) -> dict[str, int]:
    """Return the numbers of an item's periods of a kind, by their names."""
    return {
        period: int(value)
        for name, value in item.items()
        if name.startswith(prefix) and kind_of(period := name.removeprefix(prefix)) == kind
    }
