"""Which requests are being accepted, by idempotency key, and how much is under way."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from autotune.protocol.llm_requests import LlmReaskSkipped
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table

_CLAIM = "claim"
_OPEN = "rows"
_ATTEMPTS = 8


class Claim(FrozenModel):
    """An attempt at accepting one request; ``done`` once everything of it is stored.

    ``given_up`` is why nothing of it ever will be.
    """

    organization_id: str
    key: str
    fingerprint: str
    attempted_at: datetime
    done: bool = False
    given_up: LlmReaskSkipped | None = None


@dataclass(frozen=True)
class Amount:
    """Rows, and bytes of all that they ask, with variables put in."""

    rows: int
    bytes: int

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Amount":
        """Return how much some rows are."""
        sizes = [row.input_bytes for row in rows]
        return cls(len(sizes), sum(sizes))


@dataclass(frozen=True)
class Full:
    """The limit that leaves no room, and how much is under way of it."""

    what: Literal["rows", "bytes"]
    maximum: int
    actual: int


class ClaimRepository:
    """Claims and counts of open rows in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, organization_id: str, key: str) -> Claim | None:
        """Return what is known of a request; None where it never came."""
        item = self._table.get(_place(organization_id, key), _CLAIM)
        return Claim.model_validate({"key": key, **item}) if item else None

    def add(self, claim: Claim, amount: Amount, *, at_most: Amount | None) -> Full | None:
        """Store a claim, and count its rows; return what is full where they would be too many.

        Args:
            at_most: how much the organisation may have; None for rows that take others' place.

        Raises:
            UnavailableError: the same request came in the meantime, or the table is busy.
        """
        ceilings = {} if at_most is None else _less(at_most, amount)
        if min(ceilings.values(), default=0) < 0:
            return self._full(claim, amount, at_most)
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
            numbers=asdict(amount),
            at_most=ceilings,
        )
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together([new, counted]):
                return None
            if self._table.get(place, _CLAIM) is not None:
                raise UnavailableError("the same request is in progress", retry_after_seconds=1)
            if (full := self._full(claim, amount, at_most)) is not None:
                return full
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

    def give_up(self, claim: Claim, reason: LlmReaskSkipped, counted: Amount) -> None:
        """Note that nothing of a request will be stored, and take off what was counted.

        Raises:
            UnavailableError: somebody else is at the same request, or the table is busy.
        """
        given_up = Addition(
            table=self._table.name,
            pk=_place(claim.organization_id, claim.key),
            sk=_CLAIM,
            changes={"done": True, "given_up": reason},
            only_if={"done": False, "attempted_at": claim.model_dump(mode="json")["attempted_at"]},
        )
        if not self._table.add_together([given_up, *self.fewer(claim.organization_id, counted)]):
            raise UnavailableError("the same request is in progress", retry_after_seconds=1)

    def open_amount(self, organization_id: str) -> Amount:
        """Return how much of an organisation is under way."""
        item = self._table.get(_open_of(organization_id), _OPEN) or {}
        # Of rows from before bytes were counted, they are taken off all the same.
        return Amount(int(item.get("rows", 0)), max(0, int(item.get("bytes", 0))))

    def fewer(self, organization_id: str, ended: Amount) -> Sequence[Addition]:
        """Return what takes rows off the count that have ended."""
        if not ended.rows:
            return []
        pk = _open_of(organization_id)
        less = {name: -number for name, number in asdict(ended).items()}
        return [Addition(table=self._table.name, pk=pk, sk=_OPEN, numbers=less)]

    def _full(self, claim: Claim, amount: Amount, at_most: Amount | None) -> Full | None:
        """Return the first limit that has no room for some more; None where all have."""
        if at_most is None:
            return None
        there = self.open_amount(claim.organization_id)
        if there.rows + amount.rows > at_most.rows:
            return Full("rows", at_most.rows, there.rows)
        if there.bytes + amount.bytes > at_most.bytes:
            return Full("bytes", at_most.bytes, there.bytes)
        return None


def _less(most: Amount, amount: Amount) -> Mapping[str, int]:
    return {"rows": most.rows - amount.rows, "bytes": most.bytes - amount.bytes}


def _place(organization_id: str, key: str) -> str:
    return f"enqueue#{organization_id}#{hashlib.sha256(key.encode()).hexdigest()}"


def _open_of(organization_id: str) -> str:
    return f"open#{organization_id}"
