"""Alarms that call a person: dead letters, runs that failed, streams that nobody follows."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.constructs.stream_consumer import StreamConsumer

PERIOD = Duration.minutes(5)
LATE_STREAM_MS = 600_000


class OperationsAlarms(Construct):
    """Alarms over an encrypted topic that operators subscribe to."""

    def __init__(self, scope: Construct, construct_id: str, *, encryption_key: kms.IKey) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(
            self,
            "Topic",
            display_name="Autotune alarms",
            master_key=encryption_key,
            enforce_ssl=True,
        )

    def watch_dead_letters(self, queue: sqs.IQueue, *, of: str) -> None:
        """Alarms while a dead letter queue holds anything."""
        self._alarm(
            f"{of}DeadLetters",
            metric=queue.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"Messages were given up and wait for redrive: {of}",
        )

    def watch_stream(self, consumer: StreamConsumer, *, name: str) -> None:
        """Alarms while changes wait to be followed up by hand, or are followed up late."""
        self._alarm(
            f"{name}Failures",
            metric=consumer.failures.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"{name} gave up on changes of its table, and the sweeper may mend them",
        )
        self._alarm(
            f"{name}Late",
            metric=consumer.function.metric("IteratorAge", period=PERIOD, statistic="Maximum"),
            description=f"{name} is more than ten minutes behind its table",
            threshold=LATE_STREAM_MS,
        )

    def watch_runs(self, state_machine: stepfunctions.IStateMachine, *, name: str) -> None:
        """Alarms when an execution fails, times out or is aborted."""
        for outcome, metric in (
            ("Failed", state_machine.metric_failed(period=PERIOD)),
            ("TimedOut", state_machine.metric_timed_out(period=PERIOD)),
            ("Aborted", state_machine.metric_aborted(period=PERIOD)),
        ):
            self._alarm(
                f"{name}{outcome}",
                metric=metric,
                description=f"Executions of {name} ended as: {outcome}",
            )

    def _alarm(
        self,
        alarm_id: str,
        *,
        metric: cloudwatch.IMetric,
        description: str,
        threshold: float = 1,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            alarm_id,
            alarm_description=description,
            metric=metric,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
