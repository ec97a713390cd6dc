"""Sending messages to queues, and reading what Lambda passes on of them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

_MESSAGES_PER_CALL = 10
_PROMPTLY = timedelta(minutes=1)


def send_all(
    sqs: "SQSClient",
    url: str,
    bodies: Iterable[str],
    *,
    delay_seconds: int = 0,
    tenant: str | None = None,
) -> None:
    """Send messages to a queue, which holds them back for 0 to 900 seconds.

    Args:
        tenant: whose they are. A queue delivers those of quiet tenants first while another's
            backlog is in its consumers' hands (fair queues of Amazon SQS).

    Raises:
        UnavailableError: the queue refused a message; the others may have been sent.
    """
    group: SendMessageBatchRequestEntryTypeDef = {"MessageGroupId": tenant} if tenant else {}  # type: ignore[typeddict-item]
    for some in groups(bodies, _MESSAGES_PER_CALL):
        entries: list[SendMessageBatchRequestEntryTypeDef] = [
            {"Id": str(index), "MessageBody": body, "DelaySeconds": delay_seconds, **group}
            for index, body in enumerate(some)
        ]
        if sqs.send_message_batch(QueueUrl=url, Entries=entries).get("Failed"):
            raise UnavailableError("the queue is busy", retry_after_seconds=1)


def name_in(url_or_arn: str) -> str:
    """Return the name of a queue, which ends its URL and its ARN."""
    return url_or_arn.replace("/", ":").rpartition(":")[2]


def tenant_in(queue: str, tenant: str) -> str:
    """Return what stands for one tenant's messages in a queue."""
    return f"{queue}#{tenant}"


def latest_of_queues(records: Iterable[Mapping[str, Any]]) -> dict[str, datetime]:
    """Return when the latest of these messages was sent: of each queue, and of tenants in it.

    The first are found by the queue's name, the others by what ``tenant_in`` returns. Of a tenant
    whose messages come at once there is nothing to say.
    """
    now = SYSTEM_CLOCK.now()
    latest: dict[str, datetime] = {}
    for record in records:
        name, attributes = name_in(record["eventSourceARN"]), record["attributes"]
        sent_at = datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1_000, UTC)
        tenant = attributes.get("MessageGroupId") if now - sent_at > _PROMPTLY else None
        for of in (name, *([tenant_in(name, tenant)] if tenant else ())):
            latest[of] = max(sent_at, latest.get(of, sent_at))
    return latest
