"""Writing the input of a job: every row that is to be asked, as the provider takes it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autotune_platform.ledger.asking import question
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batch_rows import BatchRows, portions
from autotune_platform.ledger.batching.custom_ids import custom_id
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.stepping import Advanced, Desk
from autotune_platform.ledger.building import LOOK_AGAIN
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.job_sizes import bytes_at_most, rows_at_least, rows_at_most
from autotune_platform.ledger.jobs.contract import JobProvider
from autotune_platform.ledger.models import Batch, BatchPhase, Connection, Row
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

INPUT, ORDER = "input", "order"
"""Objects of a batch: what is sent, and which row each place of it is."""

_ROWS_READ = 100
_BYTES_READ = 16_000_000
_SPARE_SECONDS = 120
"""What has to be left of a step for the end of the input, and to put back what is not in it."""


@dataclass
class _Written:
    """What an input has of the rows of its batch.

    Attributes:
        order: the rows that are in it.
        is_cut: whether others are still wanted.
    """

    order: list[str] = field(default_factory=list)
    is_cut: bool = False


@part
class JobWriting:
    """Writes inputs. Writing one again is the same, until the batch is in its next phase."""

    desk: Desk
    batches: BatchRepository
    queues: QueueRepository
    rows: RowRepository
    texts: RowTexts
    ends: RowEnds
    remaining: BatchRows
    files: JobFiles
    clock: Clock = SYSTEM_CLOCK

    def write(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Write the rows of a batch that are still wanted.

        Those that do not fit, or that there is no time for, go back to their queue.
        """
        provider = self.desk.provider(batch)
        written = _Written()
        parts = self._parts(batch, connection, provider, written, seconds_left)
        length = self.files.store(batch.id, INPUT, parts)
        order = written.order
        if len(order) < rows_at_least(connection, "job"):
            # Too few for the provider: they come back one by one, or with others.
            for row in self.rows.get_many(order).values():
                self.ends.put_back(row, together=len(order))
            order = []
        self.files.store(batch.id, ORDER, ["\n".join(order).encode()])
        if written.is_cut:
            self.queues.open(batch.group, self.clock.now() + LOOK_AGAIN)
            if not self.remaining.put_back_others(batch, set(order), seconds_left):
                return Advanced(batch, 1)  # the input is written again, without those that are back
        phase: BatchPhase = "uploading" if order else "cleaning"
        job = {"rows": len(order), "bytes": length, "tries": 0}
        return Advanced(self.desk.store(batch, phase=phase, job=job))

    def order(self, batch: Batch) -> list[str]:
        """Return the ids of the rows in the order of the input."""
        return self.files.read(batch.id, ORDER).decode().split()

    def _parts(
        self,
        batch: Batch,
        connection: Connection,
        provider: JobProvider,
        written: _Written,
        seconds_left: Callable[[], float],
    ) -> Iterator[bytes]:
        framing = provider.framing
        before, after = framing.before(batch.model), framing.after
        yield before
        left = bytes_at_most(connection) - len(before) - len(after)
        most = rows_at_most(connection, "job")
        order = written.order
        for ids in groups(self.batches.row_ids(batch), _ROWS_READ):
            for row, line in self._lines(batch, ids, provider):
                left -= len(line) + len(framing.between)
                written.is_cut = (left < 0 and bool(order)) or len(order) >= most
                if written.is_cut:
                    break
                yield framing.between + line if order else line
                order.append(row.id)
            written.is_cut |= seconds_left() < _SPARE_SECONDS
            if written.is_cut:
                break
        yield after

    def _lines(
        self, batch: Batch, ids: Sequence[str], provider: JobProvider
    ) -> Iterator[tuple[Row, bytes]]:
        found = self.rows.get_many(ids)
        wanted = [found[one] for one in ids if one in found and found[one].is_pending_in(batch.id)]
        now = self.clock.now()
        for some in portions(wanted, most_bytes=_BYTES_READ):
            texts = self.texts.inputs(row.id for row in some)
            for row in some:
                if line := self._line(row, texts.get(row.id), provider, now):
                    yield row, line

    def _line(
        self, row: Row, text: RowInput | None, provider: JobProvider, now: datetime
    ) -> bytes | None:
        """Return a row as it is sent; None where it is not wanted any more, and ended."""
        if row.cancel_requested_at is not None:
            self.ends.unasked(row, "canceled")
        elif row.complete_by is not None and row.complete_by <= now:
            self.ends.unasked(row, "expired")
        elif text is None:
            self.ends.unasked(row, "platform_error")
        else:
            return provider.row(custom_id(row), question(row, text))
        return None
