import threading
from collections.abc import Callable

import pytest
from moto.dynamodb.responses import DynamoHandler


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
