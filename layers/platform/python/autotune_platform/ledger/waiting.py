"""Why a row is still queued: what the next look at its queue will find, read and never stored."""

from datetime import timedelta

from autotune.protocol.llm_requests import LlmWaitingReason
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.ledger.jobs.registry import rows_at_least
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class RowWaiting:
    """Says why rows wait."""

    rows: RowRepository
    connections: ConnectionRepository
    money: MoneyBudgets
    prices: Prices
    clock: Clock = SYSTEM_CLOCK

    def because(self, row: Row) -> LlmWaitingReason | None:
        """Return why a row waits; None where it is not queued."""
        if row.status != "queued":
            return None
        connection = self.connections.get(row.connection_id)
        if connection is None or connection.status == "revoked":
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

    def _is_early(self, row: Row, connection: Connection) -> bool:
        """Return whether the queue is too short, and its first row has not waited long enough."""
        now = self.clock.now()
        enough = max(connection.min_rows, rows_at_least(connection, row.mode))
        if len(self.rows.waiting(row.group, now=now, limit=enough)) >= enough:
            return False
        first = min(self.rows.first_times(row.group), default=now)
        return first + timedelta(seconds=connection.max_wait_seconds) > now
