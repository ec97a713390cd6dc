"""The queues on which chunks of completions wait for their runs, one for each priority."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from autotune.protocol.completions import Priority
from autotune_platform.completions.models import Chunk
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

_MESSAGES_PER_CALL = 10


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
        for some in groups(chunks, _MESSAGES_PER_CALL):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {"Id": str(index), "MessageBody": chunk.model_dump_json()}
                for index, chunk in enumerate(some)
            ]
            answer = self.sqs.send_message_batch(QueueUrl=self.urls[priority], Entries=entries)
            if answer.get("Failed"):
                raise UnavailableError("the queue is busy", retry_after_seconds=1)

    def backlog(self, priority: Priority) -> int:
        """Return about how many chunks wait on a queue or are being dispatched."""
        answer = self.sqs.get_queue_attributes(
            QueueUrl=self.urls[priority],
            AttributeNames=[
                "ApproximateNumberOfMessages",
                "ApproximateNumberOfMessagesNotVisible",
            ],
        )
        return sum(int(count) for count in answer["Attributes"].values())
