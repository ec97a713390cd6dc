"""Telling organisations what happened: the queue that wakes for deliveries, and who may publish."""

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.data_stack import DataStack

DELIVER_TIMEOUT = Duration.seconds(60)
# One message a function: a slow subscriber holds up no other message of its batch.
DRAIN_RATE = DrainRate(max_concurrency=50, batching_window_seconds=0, batch_size=1)


@dataclass(frozen=True, kw_only=True)
class Webhooks:
    """What functions need that publish events.

    Attributes:
        queue: Webhooks that have something to deliver.
        environment: Names of what a publisher uses.
    """

    data: DataStack
    queue: WorkQueue
    environment: Mapping[str, str]

    def grant_publish(self, publisher: ServiceFunction) -> None:
        """Lets a function tell organisations of events; it also needs ``environment``."""
        self.data.registry.grant_read(publisher.function)
        self.data.deliveries.grant_read_change(publisher.function)
        self.queue.queue.grant_send_messages(publisher.function)


def create_webhooks(stack: Construct, *, data: DataStack) -> Webhooks:
    """Makes what publishers need; ``add_webhooks`` adds the functions that deliver."""
    queue = WorkQueue(stack, "Webhooks", consumer_timeout=DELIVER_TIMEOUT, drain_rate=DRAIN_RATE)
    return Webhooks(
        data=data,
        queue=queue,
        environment={
            "DELIVERIES_TABLE": data.deliveries.table.table_name,
            "WEBHOOK_QUEUE_URL": queue.queue.queue_url,
        },
    )
