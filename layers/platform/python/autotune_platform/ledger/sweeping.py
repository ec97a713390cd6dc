"""Looking after what is open: queues whose time has come, and batches whose execution was lost."""

from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune.protocol.ids import is_id
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.building import LOOK_AGAIN
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.imports.work import ImportSweeping
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.starting import BatchStarter
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

logger = Logger()

MOST_STARTED = 1_600
"""Most queues and batches that one run starts, of each organisation one in turn."""

# A page of an index: an organisation with less that is due holds up nobody.
_MOST_OF_A_SHARD = 5_000

# One after another, as many as a run may find would outlast its minute.
_STARTED_AT_ONCE = 8
_FIRST_REDRIVE = timedelta(minutes=3)
_LONGEST_REDRIVE = timedelta(hours=1)


@part
class LedgerSweeper:
    """Starts executions; one that fails to start is due again a minute later."""

    rows: RowRepository
    batches: BatchRepository
    queues: QueueRepository
    calls: CallSettling
    starter: BatchStarter
    imports: ImportSweeping
    clock: Clock = SYSTEM_CLOCK

    def sweep(self) -> int:
        """Start what is due; return how much that was.

        Raises:
            ExceptionGroup: some could not be started; all others were.
        """
        errors: list[Exception] = []

        def start(pk: str) -> None:
            try:
                self._start(pk)
            except Exception as error:
                logger.warning("not swept", key=pk, exc_info=True)
                errors.append(error)

        due = self.batches.due(self.clock.now(), limit=_MOST_OF_A_SHARD)[:MOST_STARTED]
        in_parallel(start, due, at_most=_STARTED_AT_ONCE)
        if errors:
            raise ExceptionGroup("batches and queues that could not be swept", errors)
        return len(due)

    def _start(self, pk: str) -> None:
        now = self.clock.now()
        if pk.startswith("group#"):
            self.queues.postpone(pk, now + LOOK_AGAIN)
            self.starter.start_group(pk)
            return
        if is_id("llm", pk):
            if (row := self.rows.get(pk)) is not None:
                self.calls.recover(row)
            return
        if is_id("lim", pk):
            self.imports.redrive(pk)
            return
        batch = self.batches.get(pk)
        if batch is None or batch.phase == "settled":
            self.batches.close(pk)
            return
        redrive = batch.redrive + 1
        due_at = now + min(_FIRST_REDRIVE * 2 ** min(redrive, 10), _LONGEST_REDRIVE)
        # Whatever had it is lost: a step that lives stores its time anew before it is over.
        if self.batches.change(batch, {"redrive": redrive}, due_at=due_at):
            logger.warning("batch redriven", batch_id=batch.id, redrive=redrive)
            self.starter.start_batch(batch.model_copy(update={"redrive": redrive}))
