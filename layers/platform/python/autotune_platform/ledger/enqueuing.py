"""Accepting requests: durable before the answer, and the same however often it is repeated."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.ledger.affording import Affording
from autotune_platform.ledger.claims import Amount, Claim, ClaimRepository, Full
from autotune_platform.ledger.job_sizes import rows_enough
from autotune_platform.ledger.models import Connection, Group, Row
from autotune_platform.ledger.planning import PlannedRow, RowPlanner
from autotune_platform.ledger.planning_again import PlanningAgain
from autotune_platform.ledger.queue_ending import deadline_items
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.texts import PackedText, RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    IdempotencyKeyReusedError,
    TooManyOpenRowsError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.table import Item

# The API's functions end at 29 s, as API Gateway does.
_LONGEST_ATTEMPT = timedelta(seconds=30)
_WRITERS = 8


class GroupStarter(Protocol):
    """What has a batch made of a queue; where it does not, the sweeper does within a minute."""

    def start_group(self, group_key: str, /) -> bool:
        """Start an execution; return whether one was started."""


@dataclass(frozen=True)
class _Writes:
    """All that is stored of some rows, made before anything of them is."""

    texts: Sequence[PackedText]
    deadlines: Sequence[Item]
    rows: Sequence[Item]


@part
class EnqueuingService:
    """Stores requests as rows, and has their queues looked at.

    Ids follow from the idempotency key and the place in the request, so that whatever was stored by
    an attempt that died is found again.
    """

    planner: RowPlanner
    planning_again: PlanningAgain
    affording: Affording
    rows: RowRepository
    texts: RowTexts
    claims: ClaimRepository
    queues: QueueRepository
    starter: GroupStarter
    clock: Clock = SYSTEM_CLOCK

    def enqueue(
        self,
        caller: Caller,
        requests: Sequence[EnqueueLlmRequest],
        *,
        idempotency_key: str | None,
        alone: bool = False,
    ) -> tuple[list[str], bool]:
        """Enqueue requests; return their ids, and whether they had been before.

        Args:
            alone: the one request was the whole body, so that errors name its fields without an
                index.

        Raises:
            InvalidRequestError: a connection is not the organisation's, a variable is missing, a
                model has no price, a parameter is none of the provider's, or one of them may cost
                more than the budget of a whole period.
            IdempotencyKeyReusedError: the key came before with another body.
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else is at the same request;
                nothing is lost by asking again.
        """
        organization_id = caller.organization_id
        key = _of_caller(idempotency_key or new_id("req"))
        fingerprint = _fingerprint(requests)
        ids = [
            derived_id("llm", organization_id, key, str(place)) for place in range(len(requests))
        ]
        claim = self.claims.get(organization_id, key)
        if claim is not None:
            if claim.fingerprint != fingerprint:
                raise IdempotencyKeyReusedError(
                    "this Idempotency-Key came before with another body"
                )
            if claim.done:
                return ids, True
        planned = self.planner.plan(caller, requests, ids, alone=alone)
        is_first = claim is None
        if is_first:
            self.affording.require(organization_id, planned, alone=alone)
        most = most_of(caller)
        writes = self._writes(planned)
        claim = self._claim(organization_id, most, key, claim, fingerprint, planned)
        self._store(writes, is_first=is_first)
        self._open_queues(planned)
        self.claims.finish(claim)
        return ids, False

    def retry(self, caller: Caller, row: Row, text: RowInput, connection: Connection) -> str:
        """Enqueue an ended row once more, as a request of its own; return its id.

        Retrying it again returns the same.

        Raises:
            InvalidRequestError: the model has no price any more, the row costs too much now, or
                jobs, which all rows are to go in, do not take a parameter of it.
        """
        retried = self.planning_again.retry(row, text, connection)
        planned = [PlannedRow(retried, text, connection)]
        self.affording.require(row.organization_id, planned, alone=True)
        self.enqueue_planned(caller, planned, key=retried.id, fingerprint=row.id)
        return retried.id

    def enqueue_planned(
        self, caller: Caller, planned: Sequence[PlannedRow], *, key: str, fingerprint: str
    ) -> None:
        """Store rows that follow from a key; doing it again changes nothing.

        Raises:
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else is at the same rows.
        """
        most = most_of(caller)
        self._enqueue_once(caller.organization_id, most, planned, key, fingerprint)

    def take_place(self, planned: PlannedRow, *, of: Row) -> None:
        """Store a row in the place of another, which has ended and is still counted as under way.

        So the organisation's limit has room for it. Doing it again changes nothing.

        Raises:
            UnavailableError: a store refused work, or somebody else is at the same row.
        """
        row = planned.row
        self._enqueue_once(row.organization_id, None, [planned], row.id, of.id)

    def take_over(self, claim: Claim) -> Claim:
        """Have a request for oneself whose attempt was killed.

        Raises:
            UnavailableError: it may be under way yet, or somebody else took it over.
        """
        now = self.clock.now()
        is_over = now >= claim.attempted_at + _LONGEST_ATTEMPT
        taken = self.claims.take_over(claim, now) if is_over else None
        if taken is None:
            raise UnavailableError("the same request is in progress", retry_after_seconds=5)
        return taken

    def _enqueue_once(
        self,
        organization_id: str,
        at_most: Amount | None,
        planned: Sequence[PlannedRow],
        key: str,
        fingerprint: str,
        gone: Collection[str] = (),
    ) -> None:
        """Store rows under a key, without the texts of those that are ``gone``."""
        claim = self.claims.get(organization_id, key)
        if claim is None or not claim.done:
            is_first = claim is None
            writes = self._writes(planned, gone)
            claim = self._claim(organization_id, at_most, key, claim, fingerprint, planned)
            self._store(writes, is_first=is_first)
            self._open_queues(planned)
            self.claims.finish(claim)

    def _open_queues(self, planned: Iterable[PlannedRow]) -> None:
        """Have the rows' queues looked at in time; at once where they are long enough."""
        now = self.clock.now()
        by_group: dict[Group, list[PlannedRow]] = {}
        for one in planned:
            by_group.setdefault(one.row.group, []).append(one)
        for group, some in by_group.items():
            enough = rows_enough(some[0].connection, group.mode)
            first = min(_queued_at(one) + one.patience for one in some)
            if self.queues.enqueued(group, rows=len(some), enough=enough, ready_at=first, now=now):
                self.starter.start_group(group.key)

    def _claim(
        self,
        organization_id: str,
        at_most: Amount | None,
        key: str,
        before: Claim | None,
        fingerprint: str,
        planned: Sequence[PlannedRow],
    ) -> Claim:
        """Have the request for oneself, and its rows counted once."""
        now = self.clock.now()
        if before is not None:
            return self.take_over(before)
        claim = Claim(
            organization_id=organization_id,
            key=key,
            fingerprint=fingerprint,
            attempted_at=now,
        )
        amount = Amount.of(one.row for one in planned)
        full = self.claims.add(claim, amount, at_most=at_most)
        if full is not None:
            raise _too_much(full, amount)
        return claim

    def _writes(self, planned: Sequence[PlannedRow], gone: Collection[str] = ()) -> _Writes:
        """Return what is to be stored; what cannot be is an error before any row is counted."""
        return _Writes(
            texts=[
                self.texts.packed(one.row, "input", one.text)
                for one in planned
                if one.row.id not in gone
            ],
            deadlines=[item for one in planned for item in deadline_items(one.row)],
            rows=[self.rows.item(one.row, queued_at=_queued_at(one)) for one in planned],
        )

    def _store(self, writes: _Writes, *, is_first: bool) -> None:
        """Store texts first, so that whoever finds a row finds what it asks."""
        outgrown = [text for text in writes.texts if text.objects]
        in_parallel(self.texts.put_objects, outgrown, at_most=_WRITERS)
        inputs = [item for text in writes.texts for item in text.items]
        self.rows.put_all([*inputs, *writes.deadlines])
        if is_first:
            self.rows.put_all(writes.rows)
        else:
            # What an attempt stored that died may be under way by now.
            in_parallel(self.rows.put_new, writes.rows, at_most=_WRITERS)


def most_of(caller: Caller) -> Amount:
    """Return how much a caller's organisation may have under way."""
    return Amount(caller.limits.open_llm_rows, caller.limits.open_llm_bytes)


def _too_much(full: Full, more: Amount) -> TooManyOpenRowsError:
    is_rows = full.what == "rows"
    what, wanted = ("requests", more.rows) if is_rows else ("bytes of requests", more.bytes)
    limit = "openLlmRows" if is_rows else "openLlmBytes"
    return TooManyOpenRowsError(
        f"the organization has {full.actual} {what} to language models under way, and too many "
        f"with {wanted} more: {limit} is {full.maximum}; wait until some have ended, cancel what "
        "is not wanted, send fewer at a time, or have an operator set the limit higher",
        limit=LimitProblem(
            name="open requests" if is_rows else "bytes of open requests",
            maximum=full.maximum,
            unit="requests" if is_rows else "bytes",
            actual=full.actual,
        ),
        retry_after_seconds=60,
    )


def _of_caller(idempotency_key: str) -> str:
    """Return a key as it is stored: unlike those of our own, which have no space in them."""
    return f"caller {idempotency_key}"


def _queued_at(one: PlannedRow) -> datetime:
    """Return since when a row waits: one that is awaited or soon too late has waited enough."""
    row = one.row
    is_late = row.complete_by is not None and row.complete_by < row.created_at + one.patience * 2
    return row.created_at - one.patience if is_late or one.is_awaited else row.created_at


def _fingerprint(requests: Sequence[EnqueueLlmRequest]) -> str:
    digest = hashlib.sha256()
    for request in requests:
        document = request.model_dump(mode="json", exclude_defaults=True)
        digest.update(json.dumps(document, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()
