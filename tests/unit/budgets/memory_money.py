"""A table in memory that adds together, or not at all, and may lose its answer."""

from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import ReadTimeoutError

from autotune_platform.storage.counting import Addition, Canceled

Key = tuple[str, str]


class MoneyTable:
    """Items by key, for what budgets ask of tables.

    Attributes:
        before: called before each transaction, once, as what others write meanwhile.
        answers_lost: how many of the next transactions are done, and not answered.
    """

    name = "budgets"

    def __init__(self) -> None:
        self.items: dict[Key, dict[str, Any]] = {}
        self.before: Callable[[], None] | None = None
        self.answers_lost = 0
        self._done: set[str] = set()

    def get(self, pk: str, sk: str) -> dict[str, Any] | None:
        return self.items.get((pk, sk))

    def add_together(self, additions: Sequence[Addition]) -> bool:
        return self._written(additions) is None

    def write_together(self, additions: Sequence[Addition], *, token: str) -> Canceled | None:
        if self.before is not None:
            act, self.before = self.before, None
            act()
        canceled = None if token in self._done else self._written(additions)
        if canceled is None:
            self._done.add(token)
            if self.answers_lost:
                self.answers_lost -= 1
                raise ReadTimeoutError(endpoint_url="memory")
        return canceled

    def _written(self, additions: Sequence[Addition]) -> Canceled | None:
        items = [dict(self.items.get((one.pk, one.sk), {})) for one in additions]
        refused = {
            place: item
            for place, (one, item) in enumerate(zip(additions, items, strict=True))
            if not _holds(one, item)
        }
        if refused:
            return Canceled(refused)
        for one, item in zip(additions, items, strict=True):
            for name in one.remove:
                item.pop(name, None)
            item.update(one.changes)
            for name, number in one.numbers.items():
                item[name] = item.get(name, 0) + number
            self.items[one.pk, one.sk] = item
        return None


def _holds(one: Addition, item: dict[str, Any]) -> bool:
    is_expected = all(item.get(name) == value for name, value in one.only_if.items())
    is_enough = all(item.get(name, -1) >= least for name, least in one.at_least.items())
    is_little = all(item.get(name, 0) <= most for name, most in one.at_most.items())
    return is_expected and is_enough and is_little
