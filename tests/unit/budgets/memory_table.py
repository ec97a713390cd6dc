"""A table of budgets in memory."""

from collections import Counter
from typing import Any


class MemoryTable:
    """A table of budgets in memory, which counts what it is asked.

    Attributes:
        units: read and write units of each kind of call.
        largest: bytes of the largest item that was written.
    """

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], dict[str, Any]] = {}
        self.units: Counter[str] = Counter()
        self.largest = 0

    def get(self, pk: str, sk: str) -> dict[str, Any] | None:
        self.units["read"] += 1
        return self.items.get((pk, sk))

    def put_new(self, item: dict[str, Any]) -> bool:
        self._written(item)
        return self.items.setdefault((item["pk"], item["sk"]), item) is item

    def replace(self, pk: str, sk: str, item: dict[str, Any], *, only_if: dict[str, Any]) -> bool:
        self._written(item)
        if any(self.items[pk, sk][name] != value for name, value in only_if.items()):
            return False
        self.items[pk, sk] = item
        return True

    def advance(
        self, pk: str, sk: str, name: str, *, by: float, floor: float, ceiling: float, **_: Any
    ) -> float | None:
        now: float = self.items.get((pk, sk), {}).get(name, 0)
        self.units["write"] += 1 if now <= floor else 2
        if now > ceiling and now > floor:
            return None
        self.items[pk, sk] = {name: max(now, floor) + by}
        return max(now, floor) + by

    def _written(self, item: dict[str, Any]) -> None:
        size = sum(len(str(part)) for pair in item.items() for part in pair)
        self.largest = max(self.largest, size)
        self.units["write"] += 1 + size // 1024
