"""The queues on which chunks of completions wait for their runs, one for each priority."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from autotune.protocol.completions import Priority
from autotune_platform.completions.models import Chunk
from autotune_platform.completions.queue_progress import QueueProgress
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import name_in, send_all, tenant_in

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# A message whose run could not be started comes back four times, each after some minutes.
_REDELIVERED_WITHIN = timedelta(minutes=30)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@part
class ChunkQueues:
    """The queue of each priority."""

    urls: Mapping[Priority, str]
    sqs: "SQSClient"
    progress: QueueProgress
    clock: Clock = SYSTEM_CLOCK

    def send(self, chunks: Iterable[Chunk], priority: Priority) -> None:
        """Queue chunks, each as its organisation's.

        Raises:
            UnavailableError: the queue refused a chunk; sending all of them again is safe.
        """
        for organization_id, of_it in groupby(chunks, key=lambda chunk: chunk.organization_id):
            bodies = (chunk.model_dump_json() for chunk in of_it)
            send_all(self.sqs, self.urls[priority], bodies, tenant=organization_id)

    def backlog(self, priority: Priority, organization_id: str) -> datetime | None:
        """Return since when, at the latest, an organisation's chunks may still wait; or None.

        None means that the queue is empty. What was queued earlier is not there any more, however
        much has come since. The queue lets quiet organisations pass one with a backlog: whose
        chunks have waited is judged by those alone. Whose have not, while others are received, has
        none that was queued long ago.
        """
        answer = self.sqs.get_queue_attributes(
            QueueUrl=self.urls[priority],
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        if not sum(int(count) for count in answer["Attributes"].values()):
            return None
        queue = name_in(self.urls[priority])
        received = self.progress.received_lately(tenant_in(queue, organization_id))
        if received is None and self.progress.received_lately(queue) is not None:
            received = self.clock.now()
        received = received or self.progress.received_up_to(queue)
        return received - _REDELIVERED_WITHIN if received else _LONG_AGO
