"""Telling organisations what happened: who may publish, what delivers, and what looks after it."""

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.schedule import Schedule
from infra.constructs.service_function import ServiceFunction
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.indexes import DELIVERIES_BY_TIME_INDEX, DUE_DELIVERIES_INDEX
from infra.stacks.data_stack import DataStack
from infra.stacks.service_functions import ServiceFunctions

DELIVER_TIMEOUT = Duration.seconds(60)
SWEEP_TIMEOUT = Duration.seconds(60)
# One message a function: a slow subscriber holds up no other message of its batch.
WEBHOOKS_OF_ANY_ORGANIZATION = "*#webhooks"
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


def add_webhooks(
    stack: Construct, *, functions: ServiceFunctions, webhooks: Webhooks
) -> ServiceFunction:
    """Deliver what is published, and sweep for what was lost; return the API's function."""
    data = webhooks.data
    outbound = {**webhooks.environment, **functions.grader_environment}
    deliver = functions.create(
        "DeliverEvents",
        handler="functions.webhooks.deliver_events.lambda_handler",
        description="Sends what is due to a webhook",
        timeout=DELIVER_TIMEOUT,
        environment=outbound,
    )
    data.registry.grant_read(deliver.function)
    data.registry.grant_update(deliver.function, keys=WEBHOOKS_OF_ANY_ORGANIZATION)
    data.deliveries.grant_read_write(deliver.function)
    data.deliveries.grant_query_index(deliver.function, index_name=DUE_DELIVERIES_INDEX)
    data.secrets_key.grant_derive(deliver.function)
    webhooks.queue.queue.grant_send_messages(deliver.function)
    webhooks.queue.drain_into(deliver)

    sweep = functions.create(
        "SweepDeliveries",
        handler="functions.webhooks.sweep_deliveries.lambda_handler",
        description="Wakes webhooks whose wake-up was lost",
        timeout=SWEEP_TIMEOUT,
        environment=webhooks.environment,
    )
    data.deliveries.grant_query_index(sweep.function, index_name=DUE_DELIVERIES_INDEX)
    data.deliveries.grant_read_change(sweep.function)
    webhooks.queue.queue.grant_send_messages(sweep.function)
    Schedule(stack, "SweepDeliveriesEveryMinute", function=sweep, every=Duration.minutes(1))

    api = functions.create_api("WebhooksApi", domain="webhooks", environment=outbound)
    data.deliveries.grant_read_write(api.function)
    data.deliveries.grant_query_index(api.function, index_name=DELIVERIES_BY_TIME_INDEX)
    webhooks.queue.queue.grant_send_messages(api.function)
    return api
