"""Making batches of queued rows: listed first, then paid for, then taken one by one.

One at a time makes a batch of a queue, and has it until the rows are its batch's. Two would choose
the same rows, set money aside for both, and one of the batches would come to nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.ids import new_id
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.budgets.money import Halted, MoneyBudgets, NoRoom, Reserved
from autotune_platform.ledger.admission import LONGEST_ROOM_WAIT, JobAdmission
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.choosing import RowChoosing
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.job_sizes import has_waited, rows_at_least, rows_at_most, rows_enough
from autotune_platform.ledger.job_states import JobState, new_nonce
from autotune_platform.ledger.live_jobs import exceeds
from autotune_platform.ledger.models import Batch, Connection, Group, Row
from autotune_platform.ledger.open_calls import OpenCalls, most_open
from autotune_platform.ledger.phases import entering
from autotune_platform.ledger.prices import UNPRICED, Prices, bound
from autotune_platform.ledger.queue_ending import QueueEnding
from autotune_platform.ledger.queue_repository import Held, QueueRepository
from autotune_platform.ledger.queued_ends import TOO_DEAR_NOW, QueuedEnd
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.rows_aside import RowsAside
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.counting import Addition

logger = Logger()

LOOK_AGAIN = timedelta(minutes=1)
LOST_AFTER = timedelta(minutes=3)
"""How long the next step of an execution may take to begin, beyond what it waits."""

# Whoever goes on with a batch that was lost has its queue before another can.
_HELD_AFTER = 2 * LOST_AFTER
_WHEN_PAUSED = timedelta(minutes=5)
_LONGEST_WITHOUT_MONEY = timedelta(minutes=15)
# The end of one has the next one made; this is for one whose end could not.
_WHEN_ALL_ARE_OPEN = timedelta(minutes=5)
_WRITERS = 8
_RESERVATIONS_TRIED = 5
_ROWS_READ = 1_000
_SPARE_SECONDS = 30
_Built = tuple[Batch, Sequence[Row]]


@part
class BatchBuilder:
    """Makes one batch of a queue, if it is long enough or its first row has waited long enough."""

    rows: RowRepository
    aside: RowsAside
    endings: QueueEnding
    batches: BatchRepository
    queues: QueueRepository
    open_calls: OpenCalls
    connections: ConnectionRepository
    choosing: RowChoosing
    admission: JobAdmission
    money: MoneyBudgets
    organizations: OrganizationService
    prices: Prices
    clock: Clock = SYSTEM_CLOCK

    def build(self, key: str, *, seconds_left: Callable[[], float]) -> Batch | None:
        """Make a batch of a queue's first rows, and take as many of them as there is time for.

        Returns:
            None where it is too early, nothing is there, or another makes a batch of this queue.
        """
        now = self.clock.now()
        until = now + timedelta(seconds=seconds_left())
        batch_id = new_id("lbt")
        queue = self.queues.hold(
            key, batch_id, now=now, until=until + _HELD_AFTER, due_at=now + LOOK_AGAIN
        )
        if queue is None:
            return None
        built = None
        try:
            built = self._built(key, queue, batch_id, due_at=until + LOST_AFTER)
        finally:
            if built is None:
                self.queues.let_go(key, batch_id)
        if built is None:
            return None
        batch, rows = built
        try:
            return self.take_rows(batch, seconds_left, read=rows)
        except Exception:
            # The money is set aside: the batch is gone on with, and no other is made instead.
            logger.warning("rows not taken", batch_id=batch_id, exc_info=True)
            return batch

    def may_be_followed(self, batch: Batch) -> bool:
        """Return whether another batch may be made at once of what a batch left in its queue."""
        if batch.phase == "building" or not batch.leaves_rows:
            return False
        connection = self.connections.get(batch.connection_id)
        return connection is not None and (
            batch.mode == "job" or self._is_room(batch.group, connection)
        )

    def take_rows(
        self, batch: Batch, seconds_left: Callable[[], float], *, read: Sequence[Row] = ()
    ) -> Batch | None:
        """Take the rows of a batch that are still queued; those that others took are theirs.

        Of a job they are taken once its connection's limits have room for it.

        Args:
            read: queued rows of it that were read just now, and are not read again.

        Returns:
            The batch as it is then: ``building`` if there was no time for all, or if it waits for a
            limit; ``cleaning`` if none of its rows is to be taken. None where another step has it.
        """
        now = self.clock.now()
        until = now + timedelta(seconds=seconds_left()) + _HELD_AFTER
        is_uncounted = batch.mode == "job" and batch.counted_tokens is None
        if is_uncounted and batch.cancel_requested_at is None:
            connection = self.connections.get(batch.connection_id)
            if (
                connection is None
                or connection.status != "active"
                or exceeds(batch, connection.limits)
            ):
                return self._left(batch)
            short = self.admission.admit(batch, connection.limits)
            if short is not None:
                # Its queue waits with it: else each of its batches would ask for the same room.
                self.queues.hold_on(batch, until + LONGEST_ROOM_WAIT)
                self.queues.postpone(batch.group.key, now + LONGEST_ROOM_WAIT)
                return batch.model_copy(update={"waiting_for": short})
            batch = batch.model_copy(update={"counted_tokens": batch.input_tokens})
        batch = batch.model_copy(update={"waiting_for": None})
        self.queues.hold_on(batch, until)
        known = {row.id: row for row in read}
        for ids in groups(self.batches.row_ids(batch), _ROWS_READ):
            if seconds_left() < _SPARE_SECONDS:
                return batch
            found = self.rows.get_many(row_id for row_id in ids if row_id not in known)
            rows = [*(known[row_id] for row_id in ids if row_id in known), *found.values()]
            queued = [row for row in rows if row.status == "queued"]
            in_parallel(lambda row: self.rows.claim(row, batch.id, now), queued, at_most=_WRITERS)
        begun: dict[str, Any] = (
            entering(batch, "writing")
            if batch.mode == "job"
            else {**entering(batch, "working"), "submitted_at": now}
        )
        return self._gone_on(batch, {**begun, "waiting_for": None})

    def _left(self, batch: Batch) -> Batch | None:
        """Have a batch settled without its rows, which another batch may be made of."""
        return self._gone_on(batch, {**entering(batch, "cleaning"), "waiting_for": None})

    def _gone_on(self, batch: Batch, changes: Mapping[str, Any]) -> Batch | None:
        if not self.batches.change(batch, changes):
            return None
        is_paid = changes["phase"] != "cleaning"
        self.queues.let_go(batch.group.key, batch.id, is_paid=is_paid)
        return batch.model_copy(update=changes)

    def _built(self, key: str, queue: Held, batch_id: str, *, due_at: datetime) -> _Built | None:
        now, group = self.clock.now(), queue.group
        are_more_late = self.endings.end_late(group.connection_id)
        connection = usable(self.connections.get(group.connection_id))
        is_active = self.organizations.organization(group.organization_id).status == "active"
        if not is_active or (connection is not None and connection.status == "paused"):
            self.queues.postpone(key, now + (LOOK_AGAIN if are_more_late else _WHEN_PAUSED))
            return None
        if connection is None:
            self.endings.end_all(group)
            self.queues.close(key, touched=queue.touched)
            return None
        if group.mode == "calls" and not self._is_room(group, connection):
            self.open_calls.await_end(group)
            # One may have ended before it could know.
            if not self._is_room(group, connection):
                self.queues.defer(key, now + _WHEN_ALL_ARE_OPEN)
                return None
        self.aside.bring_back(group)
        # One more than a batch may have, which shows whether there is one.
        most = rows_at_most(connection, group.mode) + 1
        ids = self.rows.waiting(group, now=now, limit=most)
        if ids and group.mode == "job" and connection.batches == "never":
            self._ask_singly(group, connection, ids)
            return None
        enough = rows_enough(connection, group.mode)
        if len(ids) < enough and not self._is_ready(key, queue, connection, ids):
            return None
        return self._reserved(queue, connection, ids, batch_id, due_at)

    def _is_room(self, group: Group, connection: Connection) -> bool:
        return self.open_calls.of(group).batches < most_open(connection)

    def _have_waited(self, ids: Sequence[str], connection: Connection) -> bool:
        """Return whether one of a queue's rows was put back, after it had waited for others."""
        now = self.clock.now()
        return any(
            has_waited(row, connection, now)
            for part in groups(ids, _ROWS_READ)
            for row in self.rows.get_many(part).values()
        )

    def _is_ready(self, key: str, queue: Held, connection: Connection, ids: Sequence[str]) -> bool:
        """Return whether a row has waited long enough; if not, say when to look again."""
        now, group, touched = self.clock.now(), queue.group, queue.touched
        first = min(self.rows.first_times(group), default=None)
        if first is None and self.aside.first(group):
            # Another budget may have room for them.
            self.queues.postpone(key, now + _WHEN_PAUSED, touched=touched)
            return False
        if first is None:
            # The index may not have what was just stored: whoever stored it touched the queue.
            self.queues.close(key, touched=touched)
            return False
        ready_at = first + timedelta(seconds=connection.max_wait_seconds)
        if ready_at <= now or (group.mode == "calls" and self._have_waited(ids, connection)):
            return True
        # Rows that back off may be asked, together with others, as soon as that is over.
        due_at = first if first > now else ready_at
        self.queues.await_more(key, due_at, rows=len(ids), touched=touched)
        return False

    def _reserved(
        self,
        queue: Held,
        connection: Connection,
        ids: Sequence[str],
        batch_id: str,
        due_at: datetime,
    ) -> _Built | None:
        """Store a batch of as many rows as the budget has room for; return it, and its rows."""
        group = queue.group
        for _ in range(_RESERVATIONS_TRIED):
            room = self.money.room(group.organization_id)
            chosen = self.choosing.choose(ids, connection, group, room)
            if chosen.is_short_of_money:
                ids = self.aside.without_dear(group, ids)
                chosen = self.choosing.choose(ids, connection, group, room)
            is_enough = len(chosen.ids) >= rows_at_least(connection, group.mode)
            if chosen.is_short_of_money and not is_enough:
                self._is_out_of_money(queue)
                return None
            if chosen.ids and not is_enough:
                self._ask_singly(group, connection, chosen.ids)
                return None
            if not chosen.ids:
                return None
            batch = Batch(
                id=batch_id,
                organization_id=group.organization_id,
                connection_id=group.connection_id,
                provider=connection.provider,
                model=group.model,
                mode=group.mode,
                settings_version=connection.settings_version,
                rows=len(chosen.ids),
                input_tokens=chosen.tokens,
                reserved_nano_usd=chosen.amount,
                leaves_rows=chosen.is_cut,
                is_counted=group.mode == "calls",
                job=JobState(nonce=new_nonce()) if group.mode == "job" else None,
                created_at=self.clock.now(),
            )
            self.batches.put_rows(batch.id, chosen.ids)
            is_waiting = chosen.is_cut or chosen.is_short_of_money
            counted = self.open_calls.opening(batch, connection, is_waiting=is_waiting)
            reserved = self._open(batch, counted, due_at=due_at)
            if isinstance(reserved, Reserved):
                return batch.model_copy(update={"periods": reserved.periods}), chosen.rows
            if reserved is None:
                return None
            # Others were first: there is less room now.
        return None

    def _open(
        self, batch: Batch, counted: Sequence[Addition], *, due_at: datetime
    ) -> Reserved | NoRoom | Halted | None:
        """Store a batch with its money; None where as many are open as may be."""

        def opening(periods: list[str]) -> list[Addition]:
            paid = batch.model_copy(update={"periods": periods})
            return [self.batches.opening(paid, due_at=due_at), *counted]

        return self.money.reserve([batch.organization_id], batch.reserved_nano_usd, opening)

    def _is_out_of_money(self, queue: Held) -> None:
        """Have a queue looked at more and more seldom; the end of one of its batches is sooner."""
        group = queue.group
        logger.warning("budget exhausted", organization_id=group.organization_id)
        self.money.refused(group.organization_id)
        if group.mode == "calls":
            self.open_calls.await_end(group)
        wait = min(LOOK_AGAIN * 2 ** min(queue.refusals, 10), _LONGEST_WITHOUT_MONEY)
        self.queues.defer(group.key, self.clock.now() + wait, refusals=queue.refusals + 1)

    def _ask_singly(self, group: Group, connection: Connection, ids: Sequence[str]) -> None:
        """Have rows asked one by one that are too few for a job, or are to go in none any more."""
        now = self.clock.now()
        price = self.prices.find(connection, group.model, processing="standard")
        if price is None:
            logger.error(UNPRICED, connection_id=connection.id, model=group.model, rows=len(ids))
            return

        def move(row: Row) -> None:
            most = bound(row.input_bytes, row.messages, row.max_tokens, price)
            if not row.may_cost(most):
                self.endings.ends.end_all([QueuedEnd(row, "canceled", TOO_DEAR_NOW)])
                return
            self.rows.ask_singly(row, price=price, bound_nano_usd=most, now=now)

        queued = [row for row in self.rows.get_many(ids).values() if row.status == "queued"]
        in_parallel(move, queued, at_most=_WRITERS)
        logger.info("no job for rows", connection_id=connection.id, rows=len(queued))
        self.queues.open(group.model_copy(update={"mode": "calls"}), now)
