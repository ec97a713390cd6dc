"""What becomes of the rows of a job that ran nothing: refused at once, or when it was looked at."""

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.stepping import Advanced, Desk
from autotune_platform.ledger.batching.writing import JobWriting
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Batch, Connection, Fault
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.parts import part

logger = Logger()


@part
class JobFailing:
    """Ends the rows that a job was refused for, and puts the others back."""

    desk: Desk
    remaining: BatchRows
    rows: RowRepository
    ends: RowEnds
    writing: JobWriting

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
        pending = [row.id for row in self.remaining.pending(batch)]
        if len(pending) > 1:
            self.remaining.put_back(batch, together=len(pending) // 2)
        else:
            self.remaining.refuse(batch, refusal, more_attempts=False)
