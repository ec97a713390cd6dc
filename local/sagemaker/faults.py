"""Faults on command: a file beside the server's state, which any process may plant them in.

A function under test cannot tell: nothing of its requests says that a fault is due.
"""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

FILE = "faults.json"


class Kind(StrEnum):
    """What goes wrong."""

    RESOURCE_LIMIT = "resource_limit"
    """Of a creation: refused with ``ResourceLimitExceeded``."""
    REFUSED = "refused"
    """Of any operation: refused with ``ValidationException``, as a configuration is whose type of
    instance the region does not have."""
    THROTTLING = "throttling"
    """Of any operation: refused with ``ThrottlingException``."""
    LOST_ANSWER = "lost_answer"
    """Of any operation: it is done, and the connection closes without an answer."""
    CAPACITY = "capacity"
    """A job, endpoint or component that is created fails for want of instances."""
    STUCK = "stuck"
    """A job stays ``Starting``, an endpoint or component ``Creating``: for ``seconds`` where they
    are given, and fails then; else a job until it is stopped, and the others for ever."""
    INTERRUPTION = "interruption"
    """A job's process is ended ``seconds`` after it began, and after a checkpoint of it was stored
    where ``is_after_checkpoint`` says so: on spot it restarts later."""
    ALGORITHM_ERROR = "algorithm_error"
    """A job's process is killed ``seconds`` after it began, and the job fails."""
    INTERNAL_ERROR = "internal_error"
    """A job fails with ``InternalServerError``."""
    MODEL_ERROR = "model_error"
    """Of an invocation: 424 ``ModelError``; the host is said to have answered ``status``."""
    NOT_READY = "not_ready"
    """Of an invocation: 429 ``ModelNotReadyException``."""
    UNAVAILABLE = "unavailable"
    """Of an invocation: 503 ``ServiceUnavailable``."""
    SLOW = "slow"
    """Of an invocation: the host is asked ``seconds`` later."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that is due.

    Attributes:
        kind: what goes wrong.
        operation: pattern of the operation (``fnmatch``).
        name: pattern of the name that the operation gives: of job, endpoint or component.
        times: how often; it is counted down, and gone at 0.
        seconds: see its kind.
        status: see its kind.
        is_after_checkpoint: see its kind.
    """

    kind: Kind
    operation: str = "*"
    name: str = "*"
    times: int = 1
    seconds: float = 0.0
    status: int = 500
    is_after_checkpoint: bool = False


class Faults:
    """Faults that are planted in a folder.

    Args:
        folder: The server's; it is made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / FILE

    def plant(self, fault: Fault) -> None:
        """Have a fault happen, in the order of planting."""
        with self._locked():
            self._write([*self._read(), fault])

    def clear(self) -> None:
        """Have no more faults."""
        with self._locked():
            self._write([])

    def planted(self) -> list[Fault]:
        """Return what is still to happen."""
        with self._locked():
            return self._read()

    def take(self, operation: str, name: str, *kinds: Kind) -> Fault | None:
        """Return the first fault of some kinds that is due for an operation, counted down.

        Args:
            operation: such as ``CreateTrainingJob``.
            name: of what it is about.
            kinds: that can happen here.
        """
        if not self._file.exists():
            return None
        with self._locked():
            all_of_them = self._read()
            due = next(filter(_due(operation, name, kinds), all_of_them), None)
            if due is None:
                return None
            at = all_of_them.index(due)
            left = Fault(**{**asdict(due), "kind": due.kind, "times": due.times - 1})
            all_of_them[at : at + 1] = [left] if left.times > 0 else []
            self._write(all_of_them)
            return due

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> list[Fault]:
        if not self._file.exists():
            return []
        return [
            Fault(**{**one, "kind": Kind(one["kind"])})
            for one in json.loads(self._file.read_text())
        ]

    def _write(self, faults: list[Fault]) -> None:
        self._file.write_text(json.dumps([asdict(fault) for fault in faults]))


def _due(operation: str, name: str, kinds: tuple[Kind, ...]) -> Callable[[Fault], bool]:
    return lambda fault: (
        fault.kind in kinds
        and fnmatchcase(operation, fault.operation)
        and fnmatchcase(name, fault.name)
    )
