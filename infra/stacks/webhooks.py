"""Events for organisations: who may publish, what delivers, and what looks after it."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.stream_consumer import StreamConsumer
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.domain_stack import AUDIT_OF_ANY_ORGANIZATION, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import DELIVERIES_BY_TIME_INDEX, DUE_DELIVERIES_INDEX

DELIVER_TIMEOUT = Duration.seconds(60)
SWEEP_TIMEOUT = Duration.seconds(60)
PUBLISH_TIMEOUT = Duration.seconds(60)
WEBHOOKS_OF_ANY_ORGANIZATION = "*#webhooks"
# One message a function: a slow subscriber holds up no other message of its batch.
DRAIN_RATE = DrainRate(max_concurrency=50, batching_window_seconds=0, batch_size=1)
LONGEST_WAIT = Duration.minutes(15)


class WebhooksStack(DomainStack):
    """Holds the queue of webhooks that have something to deliver, and the functions around it.

    Attributes:
        queue: Webhooks that have something to deliver.
        publisher_environment: Names of what a publisher uses.
        publish: Follows events that were stored, and writes those of note into the audit log.
    """

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="webhooks", shared=shared, holds="events and deliveries")
        self.queue = WorkQueue(
            self,
            "Webhooks",
            name="webhooks",
            consumer_timeout=DELIVER_TIMEOUT,
            drain_rate=DRAIN_RATE,
        )
        self.alarms.watch_dead_letters(self.queue.dead_letters, of="Webhooks")
        self.alarms.watch_waiting(self.queue.queue, of="Webhooks", longest=LONGEST_WAIT)
        self.publisher_environment = {
            "DELIVERIES_TABLE": shared.data.deliveries.table.table_name,
            "WEBHOOK_QUEUE_URL": self.queue.queue.queue_url,
        }
        self._add_publishing()
        self._add_delivering()
        self._add_sweeping()
        api = self.create_api(
            "WebhooksApi", environment={**self.publisher_environment, **self.grader_environment}
        )
        shared.data.secrets_keys.grant_derive(api, "webhook")
        deliveries = shared.data.deliveries
        deliveries.grant_read(api.function, "BatchGetItem", "GetItem")
        deliveries.grant_write(api.function, "UpdateItem")
        deliveries.grant_query_index(api.function, index_name=DELIVERIES_BY_TIME_INDEX)
        registry = shared.data.registry
        registry.grant_read(api.function, "Query")
        registry.grant_write(
            api.function,
            *("DeleteItem", "PutItem", "UpdateItem"),
            keys=WEBHOOKS_OF_ANY_ORGANIZATION,
        )
        self.queue.grant_send(api)
        http.api.route(api, paths=resource_paths("webhooks"))

    def grant_publish(self, publisher: ServiceFunction) -> None:
        """Lets a function publish events; it also needs ``publisher_environment``."""
        self.shared.data.registry.grant_read(publisher.function, "Query")
        self.shared.data.deliveries.grant_read(publisher.function, "GetItem")
        self.shared.data.deliveries.grant_write(publisher.function, "PutItem")
        self.queue.grant_send(publisher)

    def _add_publishing(self) -> None:
        """Publish the events that a transaction stored beside what happened."""
        self.publish = self.create(
            "PublishEvents",
            module="publish_events",
            description="Publishes what happened, as it was stored beside its cause",
            timeout=PUBLISH_TIMEOUT,
            environment={**self.publisher_environment, **self.audit_environment},
        )
        self.grant_publish(self.publish)
        # Budgets that are short, and small models that are trained or may serve, are audited.
        self.shared.data.audit.grant_write(
            self.publish.function, "PutItem", keys=AUDIT_OF_ANY_ORGANIZATION
        )
        outbox = StreamConsumer(
            self,
            "Outbox",
            table=self.shared.data.registry,
            consumer=self.publish,
            inserted=["event#"],
        )
        self.alarms.watch_stream(outbox, name="Outbox")
        # A function has one age for all streams that it follows: the alarm on it stands above.
        ledger = StreamConsumer(
            self,
            "LedgerOutbox",
            table=self.shared.data.ledger,
            consumer=self.publish,
            inserted=["event#"],
        )
        self.alarms.watch_stream_failures(ledger, name="LedgerOutbox")
        decks = StreamConsumer(
            self,
            "DecksOutbox",
            table=self.shared.data.decks,
            consumer=self.publish,
            inserted=["event#"],
        )
        self.alarms.watch_stream_failures(decks, name="DecksOutbox")
        apprentice = StreamConsumer(
            self,
            "ApprenticeOutbox",
            table=self.shared.data.apprentice,
            consumer=self.publish,
            inserted=["event#"],
        )
        self.alarms.watch_stream_failures(apprentice, name="ApprenticeOutbox")

    def _add_delivering(self) -> None:
        data = self.shared.data
        deliver = self.create(
            "DeliverEvents",
            module="deliver_events",
            description="Sends what is due to a webhook",
            timeout=DELIVER_TIMEOUT,
            environment={**self.publisher_environment, **self.grader_environment},
        )
        data.registry.grant_read(deliver.function, "GetItem")
        data.registry.grant_write(deliver.function, "UpdateItem", keys=WEBHOOKS_OF_ANY_ORGANIZATION)
        data.deliveries.grant_read(deliver.function, "BatchGetItem", "GetItem")
        data.deliveries.grant_write(deliver.function, "PutItem", "UpdateItem")
        data.deliveries.grant_query_index(deliver.function, index_name=DUE_DELIVERIES_INDEX)
        data.secrets_keys.grant_derive(deliver, "webhook")
        self.queue.grant_send(deliver)
        self.queue.drain_into(deliver)

    def _add_sweeping(self) -> None:
        deliveries = self.shared.data.deliveries
        sweep = self.create(
            "SweepDeliveries",
            module="sweep_deliveries",
            description="Wakes webhooks whose wake-up was lost",
            timeout=SWEEP_TIMEOUT,
            environment=self.publisher_environment,
        )
        deliveries.grant_query_index(sweep.function, index_name=DUE_DELIVERIES_INDEX)
        deliveries.grant_read(sweep.function, "GetItem")
        deliveries.grant_write(sweep.function, "PutItem")
        self.queue.grant_send(sweep)
        self.run_every(Duration.minutes(1), sweep)
