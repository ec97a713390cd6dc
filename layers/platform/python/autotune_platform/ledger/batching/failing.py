"""What becomes of the rows of a job that ran nothing: refused at once, or when it was looked at."""

from collections.abc import Mapping
from typing import Final

from aws_lambda_powertools import Logger

from autotune_platform.ledger.attempts import Fault
from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.stepping import Advanced, Desk, state_of
from autotune_platform.ledger.batching.writing import JobWriting
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.halvings import HalvingRepository
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

_HALVES_WAIT_SECONDS: Final = 60


@part
class JobFailing:
    """Ends the rows that a job was refused for, and puts the others back."""

    desk: Desk
    remaining: BatchRows
    rows: RowRepository
    ends: RowEnds
    writing: JobWriting
    halvings: HalvingRepository
    clock: Clock = SYSTEM_CLOCK

    def fail(
        self,
        batch: Batch,
        connection: Connection,
        refusal: Refusal,
        lines: Mapping[int, str],
        *,
        was_created: bool,
    ) -> Advanced:
        """End a batch none of whose rows was asked.

        Where no row is named, half of them are sent at a time: what is refused alone is the reason.
        That goes on for as many jobs as one bad row takes to be found, and some more; then all rows
        of a job that is refused end for its reason.

        Args:
            was_created: the provider had taken the job. What it refuses before that without a row's
                name, such as an unknown model, it would refuse of each row.
        """
        logger.warning("job refused", batch_id=batch.id, code=refusal.code, reason=refusal.message)
        if refusal.code == "account":
            if self.desk.has_newest_key(connection, batch):
                self.desk.pause(connection, refusal)
            self.remaining.put_back(batch)
        elif refusal.code != "rejected":
            wait = max(connection.timings.put_off_seconds, refusal.retry_after_seconds or 0)
            self.remaining.put_back(batch, wait_seconds=wait)
        elif named := self._named(batch, lines):
            for row_id, message in named.items():
                row = self.rows.get(row_id)
                if row is not None and row.is_pending_in(batch.id):
                    self.ends.refused(row, Refusal("rejected", message), more_attempts=False)
            self.remaining.put_back(batch)
        elif was_created:
            self._halve(batch, refusal)
        else:
            self.remaining.refuse(batch, refusal, more_attempts=False)
        fault = Fault(code=refusal.code, message=refusal.message)
        return Advanced(self.desk.store(batch, phase="cleaning", job={"tries": 0}, error=fault))

    def _named(self, batch: Batch, lines: Mapping[int, str]) -> Mapping[str, str]:
        order = self.writing.order(batch) if lines else []
        return {order[place]: why for place, why in lines.items() if 0 <= place < len(order)}

    def _halve(self, batch: Batch, refusal: Refusal) -> None:
        row = next(self.remaining.pending(batch), None)
        if row is None:
            return
        # What was in the job, however many of it are back: a step may have been killed at this.
        rows = state_of(batch).rows
        first = row.halved_of or batch.id
        if rows > 1 and self.halvings.add(batch, of=first, rows=rows, now=self.clock.now()):
            self.remaining.put_back_halved(
                batch,
                together=(rows + 1) // 2,
                halved_of=first,
                wait_seconds=_HALVES_WAIT_SECONDS,
            )
            return
        if rows > 1:
            logger.warning("rows ended that none was named of", batch_id=batch.id, first=first)
        self.remaining.refuse(batch, refusal, more_attempts=False)
