"""Small states that many functions change at the same time.

What a state means is pure code; here it is read, changed and written back on the condition that
nobody else did in between.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from pydantic import BaseModel

from autotune.protocol.retry import RetryPolicy
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Key, Table

_ATTEMPTS = 10
_BUSY = RetryPolicy(first_seconds=0.02, longest_seconds=1)

StateT = TypeVar("StateT", bound=BaseModel)
ResultT = TypeVar("ResultT")


class VersionedStates:
    """States in a table, each an item that deletes itself some time after its last change."""

    def __init__(self, table: Table, *, kept_seconds: int) -> None:
        self._table = table
        self._kept_seconds = kept_seconds

    def read(self, key: Key, model: type[StateT]) -> StateT:
        """Return a state as it is now; its defaults where there is none."""
        return self._read(key, model)[0]

    def read_many(self, keys: Iterable[Key], model: type[StateT]) -> dict[Key, StateT]:
        """Return those states that are stored, by key."""
        return {
            key: model.model_validate_json(item["state"])
            for key, item in self._table.get_many(keys).items()
        }

    def change(
        self,
        key: Key,
        model: type[StateT],
        now: float,
        change: Callable[[StateT], tuple[StateT, ResultT]],
    ) -> ResultT:
        """Change a state; return the result of the change that was stored.

        Raises:
            UnavailableError: too many others changed it at the same time.
        """
        for _ in _BUSY.attempts(_ATTEMPTS):
            before, version = self._read(key, model)
            after, result = change(before)
            if after == before:
                return result
            item = {
                "state": after.model_dump_json(exclude_defaults=True),
                "version": version + 1,
                "expires_at": int(now + self._kept_seconds),
            }
            pk, sk = key
            if (
                self._table.replace(pk, sk, item, only_if={"version": version})
                if version
                else self._table.put_new({"pk": pk, "sk": sk, **item})
            ):
                return result
        raise UnavailableError("a state is busy", retry_after_seconds=1)

    def _read(self, key: Key, model: type[StateT]) -> tuple[StateT, int]:
        item = self._table.get(*key)
        if item is None:
            return model(), 0
        return model.model_validate_json(item["state"]), item["version"]
