"""Hosting of versions at SageMaker: who makes endpoints at run time, and who they act as.

No endpoint is in a template: each is made for one version, scaled, and taken down. All have names
that begin with the stack's, which permissions are limited to.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import Acknowledgment, Aws, Duration, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.config import IMAGES_ACCOUNT
from infra.constructs.apprentice_bucket import BASES, MODELS
from infra.constructs.service_function import ServiceFunction
from infra.sagemaker_names import arn_of, finding_of, hosted_names
from infra.stacks.domain_stack import DomainStack
from infra.tables import DUE_RUNS_INDEX

TASKS = "apt_*"
HOSTINGS = "apt_*#hosting"
SWEEP_TIMEOUT = Duration.seconds(60)
STUCK_MESSAGE = "a hosting is stuck"
COUNTED_MESSAGE = "an instance was counted"
SAGEMAKER = "sagemaker.amazonaws.com"
HOST_LOGS = "/aws/sagemaker/*"
ENDPOINTS, COMPONENTS = "endpoint", "inference-component"
CONFIGS, HOSTED_MODELS = "endpoint-config", "model"
OPERATIONS: Mapping[str, Sequence[str]] = {
    ENDPOINTS: ("CreateEndpoint", "DescribeEndpoint", "DeleteEndpoint"),
    COMPONENTS: (
        "CreateInferenceComponent",
        "DescribeInferenceComponent",
        "UpdateInferenceComponentRuntimeConfig",
        "DeleteInferenceComponent",
    ),
    CONFIGS: ("CreateEndpointConfig", "DescribeEndpointConfig", "DeleteEndpointConfig"),
    HOSTED_MODELS: ("CreateModel", "DescribeModel", "DeleteModel"),
}
OF_ALL = ("AddTags", "ListTags")


def grant_invoke(asking: ServiceFunction, *, prefix: str) -> None:
    """Lets a function ask versions at SageMaker."""
    iam.Grant.add_to_principal(
        grantee=asking.function,
        actions=["sagemaker:InvokeEndpoint"],
        resource_arns=[arn_of(hosted_names(prefix, kind)) for kind in (ENDPOINTS, COMPONENTS)],
    )
    _acknowledge(asking, prefix, ENDPOINTS, COMPONENTS)


class ApprenticeHosting(Construct):
    """The function that looks after hostings, and the role that their hosts have."""

    def __init__(self, stack: DomainStack) -> None:
        super().__init__(stack, "Hosting")
        self._stack = stack
        self._prefix = stack.shared.service_name
        self._role = self._add_role()
        self._add_sweep()

    def _add_role(self) -> iam.Role:
        """Hosts read what they serve, in the end that of any task, and write logs and metrics."""
        files = self._stack.shared.data.apprentice_files
        role = iam.Role(
            self,
            "HostRole",
            assumed_by=iam.ServicePrincipal(SAGEMAKER),
            description="Autotune: hosts of versions at SageMaker",
        )
        for names in (MODELS, BASES):
            files.grant_read(role, names=names)
        logs = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:{HOST_LOGS}"
        images = f"arn:{Aws.PARTITION}:ecr:{Aws.REGION}:{IMAGES_ACCOUNT}:repository/*"
        for actions, resource, conditions in (
            (["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], logs, {}),
            (
                [
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                ],
                images,
                {},
            ),
            (["ecr:GetAuthorizationToken"], "*", {}),
            (
                ["cloudwatch:PutMetricData"],
                "*",
                {"StringLike": {"cloudwatch:namespace": "*SageMaker*"}},
            ),
        ):
            role.add_to_policy(
                iam.PolicyStatement(actions=actions, resources=[resource], conditions=conditions)
            )
        here = "<AWS::Region>"
        for found, reason in (
            (
                f"arn:<AWS::Partition>:logs:{here}:<AWS::AccountId>:log-group:{HOST_LOGS}",
                (
                    "SageMaker names log groups of hosts after their endpoints, which are made at "
                    "run time under names that are used once."
                ),
            ),
            (
                f"arn:<AWS::Partition>:ecr:{here}:{IMAGES_ACCOUNT}:repository/*",
                (
                    "AWS's prebuilt images are in this one account of its own, for all to read; "
                    "which repository is used is a setting of the deployment."
                ),
            ),
            (
                "*",
                (
                    "ecr:GetAuthorizationToken and cloudwatch:PutMetricData, which hosts need, do "
                    "not support resource-level permissions; metrics go by their namespace."
                ),
            ),
        ):
            Validations.of(role).acknowledge(
                Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{found}]", reason=reason)
            )
        return role

    def _add_sweep(self) -> None:
        config = self._stack.shared.config
        table, files = self._stack.shared.data.apprentice, self._stack.shared.data.apprentice_files
        sweep = self._stack.create(
            "SweepHostings",
            module="sweep_hostings",
            description="Makes, scales and takes down where SageMaker hosts versions",
            timeout=SWEEP_TIMEOUT,
            environment={
                "APPRENTICE_TABLE": table.table.table_name,
                "APPRENTICE_BUCKET": files.bucket.bucket_name,
                "HOSTING_PREFIX": self._prefix,
                "HOSTING_ROLE_ARN": self._role.role_arn,
                "ADAPTER_IMAGE": config.image("adapter-image"),
                # SageMaker asks the same for an instance that hosts as for one that trains.
                **config.prices_environment,
            },
        )
        function = sweep.function
        table.grant_query_index(function, index_name=DUE_RUNS_INDEX)
        table.grant_read(function, "GetItem", "Query", keys=TASKS)
        table.grant_write(function, "DeleteItem", "UpdateItem", keys=HOSTINGS)
        # What lies there is compared with what adapters were trained on.
        files.grant_read(function, names=BASES)
        for kind, operations in OPERATIONS.items():
            iam.Grant.add_to_principal(
                grantee=function,
                actions=[f"sagemaker:{operation}" for operation in (*operations, *OF_ALL)],
                resource_arns=[arn_of(hosted_names(self._prefix, kind))],
            )
        # Those that name two things need both.
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["sagemaker:CreateEndpoint"],
            resource_arns=[arn_of(hosted_names(self._prefix, CONFIGS))],
        )
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["sagemaker:CreateInferenceComponent"],
            resource_arns=[arn_of(hosted_names(self._prefix, ENDPOINTS))],
        )
        function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["iam:PassRole"],
                resources=[self._role.role_arn],
                conditions={"StringEquals": {"iam:PassedToService": SAGEMAKER}},
            )
        )
        _acknowledge(sweep, self._prefix, *OPERATIONS)
        self._stack.run_every(Duration.minutes(1), sweep)
        self._stack.alarms.watch_log(
            sweep,
            name="HostingsStuck",
            message=STUCK_MESSAGE,  # as ``apprentice.hosting.stepping`` words it
            description=(
                "SageMaker does not get on with what hosts a version, or that does not answer, for "
                "half an hour; or it is gone though nobody here took it down"
            ),
        )
        for name, value in (("HostingSeconds", "$.seconds"), ("HostingNanoUsd", "$.nano_usd")):
            self._stack.alarms.measure_log(sweep, name=name, message=COUNTED_MESSAGE, value=value)
        self._stack.alarms.watch_spend(
            "HostingNanoUsd",
            name="HostingSpend",
            usd=config.hosting_alarm_usd,
            description="What hosts versions cost more within a day than is usual here",
        )


def _acknowledge(scope: Construct, prefix: str, *kinds: str) -> None:
    for kind in kinds:
        Validations.of(scope).acknowledge(
            Acknowledgment(
                id=finding_of(hosted_names(prefix, kind)),
                reason=(
                    "Endpoints are made at run time, one for each version, with names that are "
                    "used once; the wildcard is limited to those of this stack."
                ),
            )
        )
