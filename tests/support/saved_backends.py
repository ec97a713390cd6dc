"""What moto holds at one moment, to be there again in later tests.

To make tables, queues and keys takes an eighth of a second, and a thousand tests need them.
"""

import copy
import threading
from dataclasses import dataclass
from typing import Any

from moto.backends import get_backend
from moto.core.base_backend import BackendDict
from moto.sqs.models import Queue

from tests.support.tables import SavedTables


@dataclass(frozen=True)
class SavedBackend:
    """One service's backend of an account and region, with a copy of what it held."""

    service: str
    account: str
    region: str
    backend: Any
    held: dict[str, Any]

    def restore(self) -> None:
        """Have the current backend hold the same, and nothing else."""
        backend: Any = get_backend(self.service)[self.account][self.region]  # type: ignore[call-overload]
        vars(backend).update(copy.deepcopy(self.held, {id(self.backend): backend}))


def saved_backends() -> list[SavedBackend | SavedTables]:
    """Copy what each backend holds now."""
    return [
        SavedTables(),
        *_of_moto(),
    ]


def _of_moto() -> list[SavedBackend]:
    return [
        SavedBackend(
            found.service_name, account, region, one, copy.deepcopy(vars(one), {id(one): one})
        )
        for found in BackendDict._instances
        for account, regions in found.items()
        for region, one in regions.items()
    ]


def _queue_copied(self: Queue, memo: dict[int, Any]) -> Queue:
    """Copy a queue, but its lock, which nobody holds."""
    made = Queue.__new__(Queue)
    memo[id(self)] = made
    held = {name: value for name, value in vars(self).items() if name != "_messages_lock"}
    vars(made).update(copy.deepcopy(held, memo), _messages_lock=threading.Condition())
    return made


Queue.__deepcopy__ = _queue_copied  # type: ignore[attr-defined]
