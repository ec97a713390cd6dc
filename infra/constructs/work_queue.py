"""A queue of work, its dead letters, and how fast it is drained."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct

from infra.constructs.service_function import ServiceFunction

MAX_RECEIVES = 5
# The longest that SQS offers: dead letters wait for a person.
DEAD_LETTER_RETENTION = Duration.days(14)
WORK_RETENTION = Duration.days(4)
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT = 6


@dataclass(frozen=True, kw_only=True)
class DrainRate:
    """How fast a queue is drained.

    Attributes:
        max_concurrency: Invocations of the consumer at once, 2 to 1000.
        batching_window_seconds: How long messages gather before an invocation, 0 to 300.
        batch_size: Most messages that one invocation gets.
    """

    max_concurrency: int
    batching_window_seconds: int
    batch_size: int = 10


class WorkQueue(Construct):
    """Encrypted queue over TLS; what its consumer refuses five times becomes a dead letter.

    Attributes:
        name: what operators read of it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        consumer_timeout: Duration,
        drain_rate: DrainRate,
        comes_again_after: Duration | None = None,
    ) -> None:
        """Makes the queue.

        Args:
            scope: Where it is.
            construct_id: What it is called there.
            name: What operators read of it.
            consumer_timeout: How long its consumer may take for the messages that it gets.
            drain_rate: How fast it is drained.
            comes_again_after: When a message comes again whose consumer was killed; six times the
                consumer's time-out without it, as AWS advises for consumers that share functions
                with others and may be refused one.
        """
        super().__init__(scope, construct_id)
        self._drain_rate = drain_rate
        self.name = name
        visibility_seconds = (
            VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT * consumer_timeout.to_seconds()
            + drain_rate.batching_window_seconds
        )
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=DEAD_LETTER_RETENTION,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=WORK_RETENTION,
            visibility_timeout=comes_again_after or Duration.seconds(visibility_seconds),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=MAX_RECEIVES
            ),
        )

    @classmethod
    def all_in(cls, app: IConstruct) -> list["WorkQueue"]:
        """Return every queue of an app, as far as it is made by now."""
        return [one for one in app.node.find_all() if isinstance(one, cls)]

    def grant_send(self, sender: ServiceFunction) -> None:
        """Lets a function send messages, and ask nothing of the queue."""
        iam.Grant.add_to_principal(
            grantee=sender.function,
            actions=["sqs:SendMessage"],
            resource_arns=[self.queue.queue_arn],
        )

    def grant_count(self, counter: ServiceFunction) -> None:
        """Lets a function ask how many messages wait."""
        iam.Grant.add_to_principal(
            grantee=counter.function,
            actions=["sqs:GetQueueAttributes"],
            resource_arns=[self.queue.queue_arn],
        )

    def grant_redrive(self, redriver: ServiceFunction) -> None:
        """Lets a function take dead letters and send what was in them again."""
        iam.Grant.add_to_principal(
            grantee=redriver.function,
            actions=["sqs:ReceiveMessage", "sqs:DeleteMessage"],
            resource_arns=[self.dead_letters.queue_arn],
        )
        self.grant_send(redriver)

    def drain_into(self, consumer: ServiceFunction) -> None:
        """Makes a function the consumer; it reports which messages of a batch failed."""
        consumer.function.add_event_source(
            event_sources.SqsEventSource(
                self.queue,
                batch_size=self._drain_rate.batch_size,
                max_batching_window=Duration.seconds(self._drain_rate.batching_window_seconds),
                max_concurrency=self._drain_rate.max_concurrency,
                report_batch_item_failures=True,
            )
        )
