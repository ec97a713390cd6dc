"""Which requests are being accepted, by idempotency key, and how many rows are under way."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table

_CLAIM = "claim"
_OPEN = "rows"
_ATTEMPTS = 8


class Claim(FrozenModel):
    """An attempt at accepting one request; ``done`` once everything of it is stored."""

    organization_id: str
    key: str
    fingerprint: str
    attempted_at: datetime
    done: bool = False


class ClaimRepository:
    """Claims and counts of open rows in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, organization_id: str, key: str) -> Claim | None:
        """Return what is known of a request; None where it never came."""
        item = self._table.get(_place(organization_id, key), _CLAIM)
        return Claim.model_validate({"key": key, **item}) if item else None

    def add(self, claim: Claim, *, rows: int, at_most: int | None) -> bool:
        """Store a claim, and count its rows; return False where they would be too many.

        Args:
            at_most: how many the organisation may have; None for rows that take others' place.

        Raises:
            UnavailableError: the same request came in the meantime, or the table is busy.
        """
        if at_most is not None and rows > at_most:
            return False
        place = _place(claim.organization_id, claim.key)
        new = Addition(
            table=self._table.name,
            pk=place,
            sk=_CLAIM,
            changes=claim.model_dump(mode="json", exclude={"key"}),
            only_if={"fingerprint": None},
        )
        counted = Addition(
            table=self._table.name,
            pk=_open_of(claim.organization_id),
            sk=_OPEN,
            numbers={"rows": rows},
            at_most={} if at_most is None else {"rows": at_most - rows},
        )
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together([new, counted]):
                return True
            if self._table.get(place, _CLAIM) is not None:
                raise UnavailableError("the same request is in progress", retry_after_seconds=1)
            if at_most is not None and self.open_rows(claim.organization_id) > at_most - rows:
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def take_over(self, claim: Claim, now: datetime) -> Claim | None:
        """Go on with a request whose attempt died; None where another did first."""
        before: dict[str, Any] = claim.model_dump(mode="json")
        after = claim.model_copy(update={"attempted_at": now})
        changed = self._table.update(
            _place(claim.organization_id, claim.key),
            _CLAIM,
            {"attempted_at": after.model_dump(mode="json")["attempted_at"]},
            only_if={"attempted_at": before["attempted_at"]},
        )
        return after if changed else None

    def finish(self, claim: Claim) -> None:
        """Note that everything of a request is stored."""
        self._table.update(_place(claim.organization_id, claim.key), _CLAIM, {"done": True})

    def open_rows(self, organization_id: str) -> int:
        """Return how many rows of an organisation are under way."""
        item = self._table.get(_open_of(organization_id), _OPEN) or {}
        return int(item.get("rows", 0))

    def fewer(self, organization_id: str, rows: int) -> Sequence[Addition]:
        """Return what takes rows off the count that have ended."""
        if not rows:
            return []
        pk = _open_of(organization_id)
        return [Addition(table=self._table.name, pk=pk, sk=_OPEN, numbers={"rows": -rows})]

    def end_queued(self, organization_id: str, rows: int) -> None:
        """Take rows off the count that ended in their queue."""
        self._table.count(_open_of(organization_id), _OPEN, "rows", -rows)


def _place(organization_id: str, key: str) -> str:
    return f"enqueue#{organization_id}#{hashlib.sha256(key.encode()).hexdigest()}"


def _open_of(organization_id: str) -> str:
    return f"open#{organization_id}"
