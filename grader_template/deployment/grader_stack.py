"""One Lambda function with a URL."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct
from deployment.bundling import NOT_DEPLOYED, UvBundling

ROOT = Path(__file__).resolve().parent.parent
PYTHON_VERSION = "3.13"


class GraderStack(cdk.Stack):
    """The grader as an arm64 function behind a function URL.

    The URL asks for no AWS signature: Autotune is outside your account, and the grader itself
    checks every request's HMAC before it does anything. The secret comes as a NoEcho parameter, so
    that it is in no file; it then stands in the function's environment, see README.md for the
    trade-off.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        target: str,
        max_instances: str | int | None = None,
    ) -> None:
        """Make the stack.

        Args:
            scope: the app.
            construct_id: also the stack's name.
            target: ``aws``, or ``local`` to install the requirements for this machine.
            max_instances: most function instances at one time, taken out of the account's own; no
                bound unless given.
        """
        super().__init__(scope, construct_id)
        secret = cdk.CfnParameter(
            self,
            "GraderSecret",
            no_echo=True,
            default="",
            description="The sharedSecret that registering the grader returned; while it rotates, "
            "the old and the new one with a space between.",
        )
        log_group = logs.LogGroup(
            self,
            "Log",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        function = lambda_.Function(
            self,
            "Grader",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler="grader.lambda_handler",
            code=lambda_.Code.from_asset(
                str(ROOT),
                exclude=NOT_DEPLOYED,
                asset_hash_type=cdk.AssetHashType.OUTPUT,
                bundling=cdk.BundlingOptions(
                    image=lambda_.Runtime.PYTHON_3_13.bundling_image,
                    local=UvBundling(ROOT, python_version=PYTHON_VERSION, target=target),
                ),
            ),
            environment={"AUTOTUNE_GRADER_SECRET": secret.value_as_string},
            log_group=log_group,
            memory_size=512,
            timeout=cdk.Duration.seconds(60),
            reserved_concurrent_executions=None if max_instances is None else int(max_instances),
        )
        url = function.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE)
        cdk.CfnOutput(self, "GraderUrl", value=url.url)
