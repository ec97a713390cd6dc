"""Alarms that call a person: what failed, what waits, what is refused, what is behind."""

from collections.abc import Mapping, Sequence

from aws_cdk import ArnFormat, Aws, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.config import ACCOUNT_FUNCTIONS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.stream_consumer import StreamConsumer

METRICS_NAMESPACE = "Autotune"
UNWRITTEN_AUDIT_METRIC = "AuditEntriesNotWritten"
# As ``audit.calls`` words it.
UNWRITTEN_AUDIT_MESSAGE = "audit entry not written"
REFUSED = ("Read", "Write")
# A text, as all of an access log's line is.
THROTTLED_STATUS = "429"
PERIOD = Duration.minutes(5)
# Retries outlast a short one.
SUSTAINED_PERIODS = 3
# Of Lambda's default quota, and of what is left of it; the account's own is on the page of Service
# Quotas.
CONCURRENCY_ALARM = ACCOUNT_FUNCTIONS * 4 // 5
API_ERRORS = 5
LONGEST_SUBMISSION = Duration.seconds(5)
# A stream forgets after 24 hours; ten retries of a batch take far less than this.
LONGEST_LAG = Duration.minutes(15)
NANO = 1_000_000_000


def own_metric(
    name: str, *, statistic: str, period: Duration = PERIOD, label: str | None = None
) -> cloudwatch.Metric:
    """Return a metric that is made of what logs say."""
    return cloudwatch.Metric(
        namespace=METRICS_NAMESPACE,
        metric_name=name,
        period=period,
        statistic=statistic,
        label=label,
    )


def throttle_metric(
    table: dynamodb.ITableV2, refused: str, *, label: str | None = None
) -> cloudwatch.Metric:
    """Return how many reads or writes of a table DynamoDB refused."""
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name=f"{refused}ThrottleEvents",
        dimensions_map={"TableName": table.table_name},
        period=PERIOD,
        statistic="Sum",
        label=label,
    )


def account_metric(name: str, *, statistic: str) -> cloudwatch.Metric:
    """Return a metric of Lambda over all functions of the account and region."""
    return cloudwatch.Metric(
        namespace="AWS/Lambda", metric_name=name, period=PERIOD, statistic=statistic
    )


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
        self.watch_stream_failures(consumer, name=name)
        self._alarm(
            f"{name}Lag",
            metric=consumer.consumer.function.metric(
                "IteratorAge", period=PERIOD, statistic="Maximum"
            ),
            description=f"The stream of {name} is followed too slowly",
            threshold=LONGEST_LAG.to_milliseconds(),
        )

    def watch_stream_failures(self, consumer: StreamConsumer, *, name: str) -> None:
        """Alarms while a stream's failures hold anything."""
        self._alarm(
            f"{name}Failures",
            metric=consumer.failures.metric_approximate_number_of_messages_visible(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"Records of the stream of {name} were given up",
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

    def watch_waiting(self, queue: sqs.IQueue, *, of: str, longest: Duration) -> None:
        """Alarms when a message of a queue waits for long."""
        self._alarm(
            f"{of}Waiting",
            metric=queue.metric_approximate_age_of_oldest_message(
                period=PERIOD, statistic="Maximum"
            ),
            description=f"The oldest message waits for over {longest.to_human_string()}: {of}",
            threshold=longest.to_seconds(),
        )

    def watch_table(self, table: dynamodb.ITableV2, *, name: str) -> None:
        """Alarms while DynamoDB refuses reads or writes of a table for a quarter of an hour."""
        for refused in REFUSED:
            self._alarm(
                f"{name}{refused}Throttles",
                metric=throttle_metric(table, refused),
                description=f"DynamoDB refuses some calls on the table {name}: {refused}",
                periods=SUSTAINED_PERIODS,
            )

    def watch_account(self, *, unreserved: int) -> None:
        """Alarms while Lambda refuses invocations, and where the account's quota is nearly used.

        Args:
            unreserved: Functions of the default quota that are reserved for nothing: API, dispatch
                and projection share them, and they are full long before all are.
        """
        self._alarm(
            "LambdaThrottles",
            metric=account_metric("Throttles", statistic="Sum"),
            description="Lambda refuses invocations, of Autotune's functions or of others",
            periods=SUSTAINED_PERIODS,
        )
        self._alarm(
            "LambdaConcurrency",
            metric=account_metric("ConcurrentExecutions", statistic="Maximum"),
            description="Functions of this account run as often at once as 80 % of the quota",
            threshold=CONCURRENCY_ALARM,
        )
        self._alarm(
            "LambdaUnreserved",
            metric=account_metric("UnreservedConcurrentExecutions", statistic="Maximum"),
            description="80 % of the functions run that are reserved for nothing",
            threshold=unreserved * 4 // 5,
        )

    def watch_api(self, api: apigateway.IHttpApi, *, submission: ServiceFunction) -> None:
        """Alarms when requests end in errors of ours, and when submissions are slow.

        The API's own latency says nothing: some reads wait on purpose.
        """
        self._alarm(
            "ApiErrors",
            metric=api.metric_server_error(period=PERIOD, statistic="Sum"),
            description="Requests were answered with a status of 500 or above",
            threshold=API_ERRORS,
        )
        self._alarm(
            "SubmissionLatency",
            metric=submission.function.metric_duration(period=PERIOD, statistic="p99"),
            description="One submission in a hundred takes over five seconds",
            threshold=LONGEST_SUBMISSION.to_milliseconds(),
            periods=SUSTAINED_PERIODS,
        )

    def watch_log(
        self,
        function: ServiceFunction,
        *,
        name: str,
        message: str,
        description: str,
        threshold: float = 1,
        value: str = "1",
        statistic: str = "Sum",
        also: Sequence[ServiceFunction] = (),
        where: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Makes a metric of what lines of a function's log say, and alarms on it.

        Args:
            function: Writes the lines.
            also: Others that do.
            name: Of metric and alarm.
            message: What the lines say.
            description: What the alarm means.
            threshold: The alarm is raised from here on.
            value: What each line adds: a number, or a field as ``$.field``.
            statistic: How values become one in five minutes.
            where: Fields that lines have to have, with the values that count.
        """
        self.measure_log(function, name=name, message=message, value=value, also=also, where=where)
        metric = own_metric(name, statistic=statistic)
        self._alarm(name, metric=metric, description=description, threshold=threshold)

    def measure_log(
        self,
        function: ServiceFunction,
        *,
        name: str,
        message: str,
        value: str = "1",
        also: Sequence[ServiceFunction] = (),
        where: Mapping[str, Sequence[str]] | None = None,
        source: str = "",
    ) -> None:
        """Makes a metric of what lines of a function's log say; see ``watch_log``.

        Args:
            source: Names these lines, where others elsewhere make the same metric.
        """
        said = logs.FilterPattern.string_value("$.message", "=", message)
        fields = [
            logs.FilterPattern.any(
                *(logs.FilterPattern.string_value(field, "=", one) for one in values)
            )
            for field, values in (where or {}).items()
        ]
        for number, one in enumerate([function, *also]):
            logs.MetricFilter(
                self,
                f"{name}{source}Filter{number or ''}",
                log_group=one.log_group,
                filter_pattern=logs.FilterPattern.all(said, *fields) if fields else said,
                metric_namespace=METRICS_NAMESPACE,
                metric_name=name,
                metric_value=value,
            )

    def watch_spend(self, metric: str, *, name: str, usd: int | None, description: str) -> None:
        """Alarms when what is counted in billionths of a US dollar comes to much within a day.

        Args:
            metric: What is counted.
            name: Of the alarm.
            usd: From so many US dollars on; None for no alarm.
            description: What the alarm means.
        """
        if usd is not None:
            self._alarm(
                name,
                metric=own_metric(metric, statistic="Sum", period=Duration.days(1)),
                description=description,
                threshold=usd * NANO,
            )

    def watch_refused(self, access_log: logs.ILogGroup, *, route: str, name: str) -> None:
        """Alarms while the API's throttle refuses requests of a route for a quarter of an hour.

        Args:
            access_log: Of the API.
            route: What the route's key has, with ``*``.
            name: Of metric and alarm.
        """
        logs.MetricFilter(
            self,
            f"{name}Filter",
            log_group=access_log,
            filter_pattern=logs.FilterPattern.all(
                logs.FilterPattern.string_value("$.status", "=", THROTTLED_STATUS),
                logs.FilterPattern.string_value("$.routeKey", "=", route),
            ),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=name,
            metric_value="1",
        )
        self._alarm(
            name,
            metric=own_metric(name, statistic="Sum"),
            description=f"The API refuses requests because there are too many: {route}",
            periods=SUSTAINED_PERIODS,
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
            metric=own_metric(UNWRITTEN_AUDIT_METRIC, statistic="Sum"),
            description="Entries of the audit log could not be written; they are in the logs",
        )

    def _alarm(
        self,
        alarm_id: str,
        *,
        metric: cloudwatch.IMetric,
        description: str,
        threshold: float = 1,
        periods: int = 1,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            alarm_id,
            alarm_description=description,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))
