"""Why a row is still queued: what the next look at its queue will find, read and never stored."""

from datetime import timedelta

from autotune.protocol.llm_requests import LlmWaitingReason
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.job_sizes import has_waited, rows_at_least, rows_enough
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class RowWaiting:
    """Says why rows wait."""

    rows: RowRepository
    batches: BatchRepository
    queues: QueueRepository
    connections: ConnectionRepository
    money: MoneyBudgets
    prices: Prices
    clock: Clock = SYSTEM_CLOCK

    def because(self, row: Row) -> LlmWaitingReason | None:
        """Return why a row waits; None where it is not queued."""
        if row.status != "queued":
            return None
        connection = usable(self.connections.get(row.connection_id))
        if connection is None:
            return "being_batched"  # the next look at its queue ends it
        if connection.status == "paused":
            return "connection_paused"
        if row.mode == "job" and connection.batches == "never":
            price = self.prices.find(connection, row.model, processing="standard")
            return "being_batched" if price else "no_price"
        return self._in_queue(row, connection)

    def _in_queue(self, row: Row, connection: Connection) -> LlmWaitingReason:
        """Return why a row waits whose connection is ready for it."""
        lowest = self.money.lowest(row.organization_id)
        if lowest is not None and row.bound_nano_usd > lowest.limit:
            return "over_budget"
        asked_from = self.rows.asked_from(row)
        if asked_from is not None and asked_from > self.clock.now():
            return "backing_off"
        if self._is_without_money(row, connection):
            return "budget_exhausted"
        if row.mode == "job" and self._waits_for_limit(row):
            return "connection_limit"
        return "min_rows" if self._is_early(row, connection) else "being_batched"

    def _is_without_money(self, row: Row, connection: Connection) -> bool:
        """Return whether the queue's next batch, or the row itself, does not fit into a budget."""
        room = self.money.room(row.organization_id)
        if room is None:
            return False
        if row.bound_nano_usd > room:
            return True
        least = max(1, rows_at_least(connection, row.mode))
        ids = self.rows.waiting(row.group, now=self.clock.now(), limit=least)
        found = self.rows.get_many(ids).values()
        return sum(one.bound_nano_usd for one in found if one.status == "queued") > room

    def _waits_for_limit(self, row: Row) -> bool:
        """Return whether the batch that its queue makes waits for a limit of the connection."""
        batch_id = self.queues.holder(row.group, self.clock.now())
        batch = self.batches.get(batch_id) if batch_id else None
        return batch is not None and batch.waiting_for is not None

    def _is_early(self, row: Row, connection: Connection) -> bool:
        """Return whether the queue is too short, and its first row has not waited long enough."""
        now = self.clock.now()
        enough = rows_enough(connection, row.mode)
        ids = self.rows.waiting(row.group, now=now, limit=enough)
        if len(ids) >= enough:
            return False
        if row.mode == "calls":
            found = self.rows.get_many(ids).values()
            if any(has_waited(one, connection, now) for one in found):
                return False
        first = min(self.rows.first_times(row.group), default=now)
        return first + timedelta(seconds=connection.max_wait_seconds) > now
