"""Alarms that call a person: dead letters, failed runs, streams behind, gaps in the audit log."""

from aws_cdk import ArnFormat, Aws, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.stream_consumer import StreamConsumer

METRICS_NAMESPACE = "Autotune"
UNWRITTEN_AUDIT_METRIC = "AuditEntriesNotWritten"
# As ``audit.calls`` words it.
UNWRITTEN_AUDIT_MESSAGE = "audit entry not written"
PERIOD = Duration.minutes(5)
# A stream forgets after 24 hours; ten retries of a batch take far less than this.
LONGEST_LAG = Duration.minutes(15)


class AlarmTopic(Construct):
    """The encrypted topic that operators subscribe to; the alarms of this account publish to it."""

    def __init__(self, scope: Construct, construct_id: str, *, encryption_key: kms.IKey) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(
            self,
            "Topic",
            display_name="Autotune alarms",
            master_key=encryption_key,
            enforce_ssl=True,
        )
        # A policy of its own, even one that only denies, replaces SNS's default, which lets the
        # account publish: https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-use-cases.html
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AllowAlarmsToPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {
                        "aws:SourceArn": Stack.of(self).format_arn(
                            service="cloudwatch",
                            resource="alarm",
                            resource_name="*",
                            arn_format=ArnFormat.COLON_RESOURCE_NAME,
                        )
                    },
                },
            )
        )


class Alarms(Construct):
    """Alarms of one stack, which publish to the topic of all."""

    def __init__(self, scope: Construct, construct_id: str, *, topic: sns.ITopic) -> None:
        super().__init__(scope, construct_id)
        self._topic = topic

    def watch_dead_letters(self, queue: sqs.IQueue, *, of: str) -> None:
        """Alarms while a dead letter queue holds anything."""
        self._alarm(
            f"{of}DeadLetters",
            metric=queue.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"Messages were given up and wait for redrive: {of}",
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

    def watch_stream(self, consumer: StreamConsumer, *, name: str) -> None:
        """Alarms while a stream's failures hold anything, and where following it falls behind."""
        self._alarm(
            f"{name}Failures",
            metric=consumer.failures.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"Records of the stream of {name} were given up",
        )
        self._alarm(
            f"{name}Lag",
            metric=consumer.consumer.function.metric(
                "IteratorAge", period=PERIOD, statistic="Maximum"
            ),
            description=f"The stream of {name} is followed too slowly",
            threshold=LONGEST_LAG.to_milliseconds(),
        )

    def watch_schedule(self, function: ServiceFunction, *, name: str) -> None:
        """Alarms when a scheduled function fails, or is not run because Lambda is throttled."""
        self._alarm(
            f"{name}Errors",
            metric=function.function.metric_errors(period=PERIOD),
            description=f"{name} failed; it goes on where it stopped when it runs again",
        )
        self._alarm(
            f"{name}Dropped",
            metric=function.function.metric("AsyncEventsDropped", period=PERIOD, statistic="Sum"),
            description=f"{name} did not run when it was due: Lambda had no capacity for it",
        )

    def count_unwritten_audit(self, function: ServiceFunction) -> None:
        """Counts entries of the audit log that are in a function's log alone."""
        logs.MetricFilter(
            self,
            f"{function.node.id}{UNWRITTEN_AUDIT_METRIC}",
            log_group=function.log_group,
            filter_pattern=logs.FilterPattern.string_value(
                "$.message", "=", UNWRITTEN_AUDIT_MESSAGE
            ),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=UNWRITTEN_AUDIT_METRIC,
            metric_value="1",
        )

    def watch_unwritten_audit(self) -> None:
        """Alarms when a function of any stack counted an entry that is in its log alone."""
        self._alarm(
            UNWRITTEN_AUDIT_METRIC,
            metric=cloudwatch.Metric(
                namespace=METRICS_NAMESPACE,
                metric_name=UNWRITTEN_AUDIT_METRIC,
                period=PERIOD,
                statistic="Sum",
            ),
            description="Entries of the audit log could not be written; they are in the logs",
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
        alarm.add_alarm_action(actions.SnsAction(self._topic))
