"""How far the export has come: one item in the ``audit`` table."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from autotune_platform.storage.table import Table

_PK, _SK = "export", "progress"


@dataclass(frozen=True, kw_only=True)
class ExportProgress:
    """The day that is being exported, and the last organisation of it that is done."""

    day: date
    after: str | None = None


class ExportProgressRepository:
    """Keeps the progress of the export."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_or_start(self, *, first_day: date) -> ExportProgress:
        """Return the progress; the first export ever starts with ``first_day``."""
        item = self._table.get(_PK, _SK)
        if item is None:
            start = ExportProgress(day=first_day)
            if self._table.put_new({"pk": _PK, "sk": _SK, **_attributes(start)}):
                return start
            return self.get_or_start(first_day=first_day)
        return ExportProgress(day=date.fromisoformat(item["day"]), after=item["after"] or None)

    def advance(self, before: ExportProgress, after: ExportProgress) -> bool:
        """Store progress; return False where another run came further in the meantime."""
        changed = self._table.update(_PK, _SK, _attributes(after), only_if=_attributes(before))
        return changed is not None


def _attributes(progress: ExportProgress) -> dict[str, Any]:
    return {"day": progress.day.isoformat(), "after": progress.after or ""}
