"""What the server knows of jobs, models, endpoints and components; it is there after a restart.

A record is what its description answers, with times as seconds since 1970, and beside that members
that start with ``_``, which no answer has.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from local.endpoint import ACCOUNT, REGION

Record = dict[str, Any]
FILE = "records.json"


class Records:
    """Records by kind and name, in a file.

    Args:
        folder: For the file; it is made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / FILE
        self._lock = threading.RLock()
        self._of: dict[str, dict[str, Record]] = (
            json.loads(self._file.read_text()) if self._file.exists() else {}
        )

    def all_of(self, kind: str) -> list[Record]:
        """Return copies of all records of a kind."""
        with self._lock:
            return [_copied(record) for record in self._of.get(kind, {}).values()]

    def get(self, kind: str, name: str) -> Record | None:
        """Return a copy of a record; None if there is none."""
        with self._lock:
            record = self._of.get(kind, {}).get(name)
            return None if record is None else _copied(record)

    def add(self, kind: str, name: str, record: Mapping[str, Any]) -> bool:
        """Write a record unless the name is taken; return whether it was free."""
        with self._lock:
            of_kind = self._of.setdefault(kind, {})
            if name in of_kind:
                return False
            of_kind[name] = _copied(record)
            self._save()
            return True

    def change(self, kind: str, name: str, change: Callable[[Record], None]) -> Record | None:
        """Change a record while nobody else does; return a copy of it, or None if it is gone.

        What ``change`` raises is passed on, and changes nothing.
        """
        with self._lock:
            record = self._of.get(kind, {}).get(name)
            if record is None:
                return None
            changed = _copied(record)
            change(changed)
            changed["LastModifiedTime"] = now()
            self._of[kind][name] = changed
            self._save()
            return _copied(changed)

    def set(self, kind: str, name: str, **members: Any) -> None:
        """Set members of a record, and remove those that are None; nothing if it is gone."""

        def change(record: Record) -> None:
            record.update(members)
            for member in [each for each, value in members.items() if value is None]:
                del record[member]

        self.change(kind, name, change)

    def remove(self, kind: str, name: str) -> Record | None:
        """Remove a record and return it; None if there was none."""
        with self._lock:
            record = self._of.get(kind, {}).pop(name, None)
            if record is not None:
                self._save()
            return record

    def by_arn(self, arn: str) -> tuple[str, str] | None:
        """Return kind and name of what has an ARN."""
        with self._lock:
            for kind, of_kind in self._of.items():
                for name, record in of_kind.items():
                    if record["_arn"] == arn:
                        return kind, name
        return None

    def _save(self) -> None:
        unfinished = self._file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(self._of))
        unfinished.replace(self._file)


def arn_of(kind: str, name: str) -> str:
    """Return the ARN of something of this account; SageMaker has them in lower case."""
    return f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:{kind}/{name.lower()}"


def now() -> float:
    """Return seconds since 1970, to the millisecond as SageMaker has them."""
    return round(time.time(), 3)


def _copied(record: Mapping[str, Any]) -> Record:
    copy: Record = json.loads(json.dumps(record))
    return copy
