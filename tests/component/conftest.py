import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from moto.dynamodb.responses import DynamoHandler

from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.kept import kept
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """The whole server side; whatever it stores is in a module ``holdings``, as it is there."""
    with make_platform(monkeypatch) as made:
        yield made
        stored = list(kept())
        assert [(one.place, one.key) for one in stored if not one.is_as_described] == []
        assert [(one.key, one.misnamed) for one in stored if one.misnamed] == []


@pytest.fixture
def grader() -> Iterator[LoopbackGrader]:
    with loopback_grader() as made:
        yield made


@pytest.fixture
def due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have batches swept as soon as they are submitted, and again at once."""
    for module in ("submission", "open_batches"):
        monkeypatch.setattr(
            f"autotune_platform.completions.{module}.FIRST_SWEEP_AFTER", timedelta(0)
        )
    monkeypatch.setattr("autotune_platform.scoring.sweeper._wait", lambda _: timedelta(0))


@pytest.fixture
def atomic_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make moto's conditional writes as atomic as DynamoDB's, for tests that write in threads.

    The whole request is locked: the answer is read from an item that the next write may change.
    """
    lock = threading.RLock()

    def one_at_a_time(name: str) -> None:
        answer: Callable[[DynamoHandler], object] = getattr(DynamoHandler, name)

        def locked(self: DynamoHandler) -> object:
            with lock:
                return answer(self)

        monkeypatch.setattr(DynamoHandler, name, locked)

    for name in ("get_item", "put_item", "update_item", "delete_item", "transact_write_items"):
        one_at_a_time(name)
