"""Steps of a job that are killed anywhere: the job is created once, and each row is paid once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.storage.table import Table
from tests.component.ledger.test_jobs import assert_paid_once, enqueue, read_all
from tests.support.ledger import Ledger


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


class Killer:
    """Kills at one of the calls that a step makes, before or after it is done."""

    def __init__(self, at: int, *, after: bool) -> None:
        self._at = at
        self._after = after
        self._lock = threading.Lock()
        self.calls: list[str] = []
        self.has_killed = False

    def around(self, name: str, call: Any) -> Any:
        def wrapped(one: Any, *args: Any, **options: Any) -> Any:
            with self._lock:
                self.calls.append(name)
                is_it = len(self.calls) == self._at
            if is_it and not self._after:
                self._kill()
            done = call(one, *args, **options)
            if is_it:
                self._kill()
            return done

        return wrapped

    def _kill(self) -> None:
        self.has_killed = True
        raise KilledError


@contextmanager
def killing(killer: Killer, of: str) -> Iterator[None]:
    """Kill at requests to the provider, or at writes to tables."""
    if of == "requests":
        with patch.object(Exchanges, "exchange", killer.around("request", Exchanges.exchange)):
            yield
        return
    with (
        patch.object(Table, "update", killer.around("update", Table.update)),
        patch.object(Table, "put_new", killer.around("put_new", Table.put_new)),
        patch.object(Table, "add_together", killer.around("together", Table.add_together)),
        patch.object(Table, "write_together", killer.around("together", Table.write_together)),
    ):
        yield


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("of", "provider", "at"),
    [
        *(("requests", "openai", at) for at in (1, 2, 3, 4)),
        *(("requests", "anthropic", at) for at in (1, 2, 3)),
        *(("writes", "openai", at) for at in range(2, 32, 4)),
    ],
)
def test_a_step_that_is_killed_costs_time_and_nothing_else(
    ledger: Ledger, of: str, provider: str, at: int, after: bool
) -> None:
    ids = enqueue(ledger, provider, count=3)
    killer = Killer(at, after=after)
    with killing(killer, of):
        ledger.run_jobs(killed_by=KilledError)
    assert killer.has_killed, killer.calls
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    if of == "requests":  # rows that a killed step had not taken may go in a job of their own
        assert len(ledger.fake.world.batches) == 1
    assert_paid_once(ledger, ids)
