"""Up to when the messages of each queue, and of each tenant in it, have been received.

SQS says how many messages wait, and not since when. Each receiver notes once a minute when the
latest of its messages was sent. What was sent long before that is in its queue no more.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from aws_lambda_powertools import Logger

from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Table

logger = Logger()

_PROGRESS = "progress"
_NOTED_EVERY_SECONDS = 60
_LATELY_SECONDS = 600


@part
class QueueProgress:
    """Keeps for each queue, by its name, when the latest message that was received was sent.

    A tenant's messages in a queue are one, too, by the name that ``tenant_in`` returns.
    """

    table: Table
    clock: Clock = SYSTEM_CLOCK
    _next_at: dict[str, float] = field(default_factory=dict, init=False)

    def note(self, sent: Mapping[str, datetime]) -> None:
        """Store when the latest received message of each queue was sent.

        A process tries it once a minute, and one of them succeeds in each minute.
        """
        now = self.clock.unix()
        for queue, sent_at in sent.items():
            if self._next_at.get(queue, now) <= now:
                until = now + _NOTED_EVERY_SECONDS
                self._next_at[queue] = until
                item = {"pk": _partition(queue), "sk": _PROGRESS, "sent_at": moment(sent_at)}
                try:
                    self.table.put_new({**item, "expires_at": int(until)}, or_expired_at=int(now))
                except REFUSALS:
                    # The next minute's note will do as well.
                    logger.warning("progress of a queue not noted", queue=queue, exc_info=True)

    def received_up_to(self, queue: str) -> datetime | None:
        """Return about when the latest message of a queue that was received was sent."""
        item = self.table.get(_partition(queue), _PROGRESS)
        return datetime.fromisoformat(item["sent_at"]) if item else None

    def received_lately(self, queue: str) -> datetime | None:
        """Return the same, where a message of the queue was received in the last ten minutes."""
        item = self.table.get(_partition(queue), _PROGRESS)
        noted_since = self.clock.unix() - _LATELY_SECONDS
        if item is None or item["expires_at"] < noted_since:
            return None
        return datetime.fromisoformat(item["sent_at"])


def _partition(queue: str) -> str:
    return f"queue#{queue}"
