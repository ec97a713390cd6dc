"""Asking again what came back with a verdict that cannot be read, before its batch is settled.

The write that ends a row says that this is due, and a batch is settled once nothing of it is. So a
step that is killed in between loses nothing: the next one, which the sweeper starts at last, finds
the same rows. The id of what is enqueued follows from the row, so that it is enqueued once.
"""

from collections.abc import Callable, Sequence

from aws_lambda_powertools import Logger

from autotune.protocol.llm_requests import LlmReaskSkipped
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Batch, Connection, Row
from autotune_platform.ledger.once_more import OnceMore
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

logger = Logger()

AGAIN_SECONDS = 31
"""When to try again what another attempt is at, or was killed at: its time is over then."""

_AT_ONCE = 4
_SPARE_SECONDS = 30


@part
class Reasking:
    """Enqueues rows in the place of those that are due to be asked again."""

    rows: RowRepository
    texts: RowTexts
    batches: BatchRepository
    connections: ConnectionRepository
    once_more: OnceMore
    clock: Clock = SYSTEM_CLOCK

    def ask_again(
        self, batch: Batch, due: Sequence[Row], seconds_left: Callable[[], float]
    ) -> bool:
        """See to rows of a batch that are due; False where some still are, for want of time."""
        if not due:
            return True
        # It may have been canceled while its rows were asked.
        present = self.batches.get(batch.id) or batch
        connection = self.connections.get(batch.connection_id)
        busy: list[str] = []

        def see_to(row: Row) -> None:
            try:
                self._see_to(present, row, connection)
            except UnavailableError:
                busy.append(row.id)

        for some in groups(due, _AT_ONCE):
            if seconds_left() < _SPARE_SECONDS:
                return False
            in_parallel(see_to, some, at_most=_AT_ONCE)
        if busy:
            logger.warning("rows not asked again yet", batch_id=batch.id, rows=len(busy))
        return not busy

    def _see_to(self, batch: Batch, row: Row, connection: Connection | None) -> None:
        reason = self.once_more.ask(
            row,
            self.texts.input_of(row.id),
            connection,
            unless=self._why_not(batch, row, connection),
        )
        if reason is not None:
            logger.info("row not asked again", request_id=row.id, reason=reason)
            self.rows.note_reask(row, {"reask_skipped": reason})

    def _why_not(
        self, batch: Batch, row: Row, connection: Connection | None
    ) -> LlmReaskSkipped | None:
        if row.cancel_requested_at is not None or batch.cancel_requested_at is not None:
            return "canceled"
        if row.complete_by is not None and row.complete_by <= self.clock.now():
            return "expired"
        if usable(connection) is None:
            return "connection_revoked"
        return None
