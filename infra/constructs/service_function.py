"""One Lambda function with a role and a log group of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Size, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

MEMORY_MB = 512
WHOLE_PROCESSOR_MB = 1_769
LOG_RETENTION = logs.RetentionDays.ONE_MONTH


@dataclass(frozen=True, kw_only=True)
class FunctionPackage:
    """What every function shares: code, layers and environment.

    Attributes:
        code: Asset that holds the package ``functions``.
        layers: Layers, those of third parties first.
        environment: Variables that every function needs.
    """

    code: lambda_.Code
    layers: Sequence[lambda_.ILayerVersion]
    environment: Mapping[str, str]


class ServiceFunction(Construct):
    """Python on Graviton, traced, with JSON logs that are kept for a month.

    Its role may write to its own log group and send trace segments, and nothing else until the
    stack grants more.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: FunctionPackage,
        handler: str,
        description: str,
        timeout: Duration,
        environment: Mapping[str, str] | None = None,
        disk: Size | None = None,
        most_at_once: int | None = None,
        memory_mb: int = MEMORY_MB,
        sends_to_itself: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        self.timeout = timeout
        self.log_group = log_group = logs.LogGroup(
            self, "Logs", retention=LOG_RETENTION, removal_policy=RemovalPolicy.DESTROY
        )
        self.role = role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"Autotune: {construct_id}",
        )
        log_group.grant_write(role)
        self.function = lambda_.Function(
            self,
            "Function",
            description=description,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=memory_mb,
            timeout=timeout,
            ephemeral_storage_size=disk,
            code=package.code,
            handler=handler,
            layers=list(package.layers),
            environment={
                **package.environment,
                "POWERTOOLS_SERVICE_NAME": construct_id,
                **(environment or {}),
            },
            reserved_concurrent_executions=most_at_once,
            # Lambda takes a message for lost that went round some sixteen times.
            recursive_loop=lambda_.RecursiveLoop.ALLOW if sends_to_itself else None,
            role=role,
            log_group=log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            tracing=lambda_.Tracing.ACTIVE,
        )
        Validations.of(self.function).acknowledge(
            Acknowledgment(
                id="AwsSolutions-L1",
                reason=(
                    "Lambda supports Python 3.13 until 2029, and it is the newest version that "
                    "the whole test suite and the local stack run under."
                ),
            )
        )
        Validations.of(role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason=(
                    "xray:PutTraceSegments and xray:PutTelemetryRecords, which active tracing "
                    "needs, do not support resource-level permissions."
                ),
            )
        )
