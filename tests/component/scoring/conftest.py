import threading
from collections.abc import Callable

import pytest
from moto.dynamodb.models import DynamoDBBackend


@pytest.fixture
def atomic_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make moto's conditional writes as atomic as DynamoDB's, for tests that write in threads."""
    lock = threading.RLock()

    def one_at_a_time(name: str) -> None:
        write: Callable[..., object] = getattr(DynamoDBBackend, name)

        def locked(self: DynamoDBBackend, *args: object, **kwargs: object) -> object:
            with lock:
                return write(self, *args, **kwargs)

        monkeypatch.setattr(DynamoDBBackend, name, locked)

    for name in ("put_item", "update_item", "delete_item", "transact_write_items"):
        one_at_a_time(name)
