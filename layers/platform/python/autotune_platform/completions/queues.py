"""The queues on which chunks of completions wait for their runs, one for each priority."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from autotune.protocol.completions import Priority
from autotune_platform.completions.models import Chunk
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.queues import send_all

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@part
class ChunkQueues:
    """The queue of each priority."""

    urls: Mapping[Priority, str]
    sqs: "SQSClient"

    def send(self, chunks: Iterable[Chunk], priority: Priority) -> None:
        """Queue chunks.

        Raises:
            UnavailableError: the queue refused a chunk; sending all of them again is safe.
        """
        send_all(self.sqs, self.urls[priority], (chunk.model_dump_json() for chunk in chunks))

    def backlog(self, priority: Priority) -> int:
        """Return about how many chunks wait on a queue or are being dispatched."""
        answer = self.sqs.get_queue_attributes(
            QueueUrl=self.urls[priority],
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return sum(int(count) for count in answer["Attributes"].values())
