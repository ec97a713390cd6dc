"""Where graders' limits and circuits are kept while they are at work.

Many functions call one grader at the same time; each change here is one conditional write, so that
together they stay within its limits. Items are ``<grader id>`` with ``rate``, ``leases`` and
``circuit``; each deletes itself a day after its last change, when it says nothing any more.
"""

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from autotune_platform.errors import UnavailableError
from autotune_platform.graders.breaker import Circuit
from autotune_platform.graders.leases import Leases
from autotune_platform.table import Table

_KEPT_SECONDS = 86_400
_ATTEMPTS = 10
_RATE, _LEASES, _CIRCUIT = "rate", "leases", "circuit"

StateT = TypeVar("StateT", bound=BaseModel)
ResultT = TypeVar("ResultT")


class BudgetRepository:
    """Rate, concurrency and circuit of each grader in the ``budgets`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def circuit(self, grader_id: str) -> Circuit:
        """Return a grader's circuit as it is now."""
        return self._read(grader_id, _CIRCUIT, Circuit)[0]

    def change_circuit(
        self, grader_id: str, now: float, change: Callable[[Circuit], tuple[Circuit, ResultT]]
    ) -> ResultT:
        """Change a grader's circuit; return what the change that was stored told beside it.

        Raises:
            UnavailableError: too many others changed it at the same time.
        """
        return self._change(grader_id, _CIRCUIT, Circuit, now, change)

    def change_leases(
        self, grader_id: str, now: float, change: Callable[[Leases], tuple[Leases, ResultT]]
    ) -> ResultT:
        """Change a grader's leases; return what the change that was stored told beside it.

        Raises:
            UnavailableError: too many others changed them at the same time.
        """
        return self._change(grader_id, _LEASES, Leases, now, change)

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

    def _read(self, grader_id: str, name: str, model: type[StateT]) -> tuple[StateT, int]:
        item = self._table.get(grader_id, name)
        if item is None:
            return model(), 0
        return model.model_validate_json(item["state"]), item["version"]

    def _change(
        self,
        grader_id: str,
        name: str,
        model: type[StateT],
        now: float,
        change: Callable[[StateT], tuple[StateT, ResultT]],
    ) -> ResultT:
        for _ in _attempts():
            before, version = self._read(grader_id, name, model)
            after, result = change(before)
            if after == before:
                return result
            item = {
                "state": after.model_dump_json(exclude_defaults=True),
                "version": version + 1,
                "expiresAt": int(now + _KEPT_SECONDS),
            }
            key = {"pk": grader_id, "sk": name}
            if (
                self._table.replace(**key, item=item, only_if={"version": version})
                if version
                else self._table.put_new({**key, **item})
            ):
                return result
        raise UnavailableError("a grader's budget is busy", retry_after_seconds=1)


def _attempts() -> Iterator[int]:
    """Count attempts at a contended item, sleeping with full jitter before each but the first."""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, min(1.0, 0.01 * 2**attempt)))  # noqa: S311 - jitter
        yield attempt
