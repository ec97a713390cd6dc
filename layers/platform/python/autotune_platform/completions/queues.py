"""The queues on which chunks of completions wait for their runs, one for each priority."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from autotune.protocol.completions import Priority
from autotune_platform.completions.models import Chunk
from autotune_platform.completions.queue_progress import QueueProgress
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import name_in, send_all

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

    def send(self, chunks: Iterable[Chunk], priority: Priority) -> None:
        """Queue chunks.

        Raises:
            UnavailableError: the queue refused a chunk; sending all of them again is safe.
        """
        send_all(self.sqs, self.urls[priority], (chunk.model_dump_json() for chunk in chunks))

    def backlog(self, priority: Priority) -> datetime | None:
        """Return since when, at the latest, chunks may still wait on a queue; None if none do.

        What was queued earlier is not there any more, however many have come since.
        """
        answer = self.sqs.get_queue_attributes(
            QueueUrl=self.urls[priority],
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        if not sum(int(count) for count in answer["Attributes"].values()):
            return None
        received = self.progress.received_up_to(name_in(self.urls[priority]))
        return received - _REDELIVERED_WITHIN if received else _LONG_AGO
