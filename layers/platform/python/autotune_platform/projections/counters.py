"""Stores the counters of graders' statistics and metering."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

_STATISTICS = "statistics#"
_METERING = "metering#"


class CounterRepository:
    """Counters in the ``registry`` table, in the partition of their grader, over lanes."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def statistics_of(self, grader_id: str, version: str | None = None) -> dict[str, Counter[str]]:
        """Return the counts of a grader by version: of all versions, or of one if it has any."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        prefix = _STATISTICS if version is None else f"{_STATISTICS}{version}#"
        for item in self._items(grader_id, prefix):
            counted, _, _ = item["sk"].removeprefix(_STATISTICS).rpartition("#")
            # A version may contain "#", and so start like another one.
            if version in (None, counted):
                found[counted].update(_numbers(item))
        return found

    def metering_of(self, grader_id: str, month: str) -> Counter[str]:
        """Return a grader's counts of all organisations in a month such as ``2026-11``."""
        total: Counter[str] = Counter()
        for item in self._items(grader_id, f"{_METERING}{month}#"):
            total.update(_numbers(item))
        return total

    def add_statistics(
        self, grader_id: str, version: str, counts: Mapping[str, int], *, lane: int
    ) -> Addition:
        """Return an addition to the statistics of a grader's version."""
        return self._addition(grader_id, _statistics_key(version, lane), counts)

    def count_late_answers(self, grader_id: str, version: str, count: int) -> None:
        """Add late answers to the statistics of a version, in a lane that no transaction writes."""
        self._table.count(grader_id, _statistics_key(version, "late"), "late_answers", count)

    def add_metering(
        self,
        grader_id: str,
        month: str,
        organization_id: str,
        counts: Mapping[str, int],
        *,
        lane: int,
    ) -> Addition:
        """Return an addition to an organisation's metering of a grader in a month."""
        return self._addition(grader_id, f"{_METERING}{month}#{organization_id}#{lane}", counts)

    def _addition(self, grader_id: str, sort_key: str, counts: Mapping[str, int]) -> Addition:
        return Addition(table=self._table.name, pk=grader_id, sk=sort_key, numbers=counts)

    def _items(self, grader_id: str, prefix: str) -> Iterator[Item]:
        after: Item | None = None
        while True:
            page = self._table.query(grader_id, starting=prefix, after=after)
            yield from page.items
            after = page.last_key
            if after is None:
                return


def _statistics_key(version: str, lane: int | str) -> str:
    return f"{_STATISTICS}{version}#{lane}"


def _numbers(item: Item) -> dict[str, int]:
    return {name: value for name, value in item.items() if name not in {"pk", "sk"}}
