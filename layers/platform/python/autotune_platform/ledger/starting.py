"""Starting executions that make batches of queues, or go on with a batch."""

import hashlib
import json

from autotune_platform.ledger.models import Batch
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part


@part
class BatchStarter:
    """Starts executions; what could not be started, the sweeper starts a minute later."""

    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def start_group(
        self, group_key: str, *, after: Batch | None = None, ended: Batch | None = None
    ) -> bool:
        """Have a batch made of a queue; several starts within a second are one.

        An execution waits for longer than that before it reads the queue.

        Args:
            after: the batch that the rows in front of it are in; started once after each.
            ended: a batch that they waited for; started once after the end of each.
        """
        digest = hashlib.sha256(group_key.encode()).hexdigest()[:32]
        moment = after.id if after else str(int(self.clock.unix()))
        if ended is not None:
            moment = f"{ended.id}-ended"
        document = json.dumps({"group": group_key})
        return self.executions.try_start(f"{digest}-{moment}", document)

    def start_batch(self, batch: Batch) -> bool:
        """Go on with a batch whose execution was lost."""
        document = json.dumps({"batch_id": batch.id, "redrive": batch.redrive})
        return self.executions.try_start(f"{batch.id}-{batch.redrive}", document)
