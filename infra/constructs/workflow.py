"""A state machine that is made of functions."""

from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Acknowledgment, RemovalPolicy, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.constructs.service_function import LOG_RETENTION, ServiceFunction


class Workflow(Construct):
    """Standard state machine from a file of Amazon States Language, which stays inline.

    Its role may invoke the functions that the definition names and nothing else; its log has
    errors without execution data.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service_name: str,
        definition: Path,
        functions: Mapping[str, ServiceFunction],
    ) -> None:
        """Reads the definition.

        Args:
            scope: Parent construct.
            construct_id: Identifier within the parent.
            service_name: What the name of its log group starts with.
            definition: JSON file with placeholders such as ``${GradeChunkFunctionArn}``.
            functions: Functions that the definition invokes, by name of their placeholder.
        """
        super().__init__(scope, construct_id)
        # Log groups of this prefix need no entry in the account's log resource policy.
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/vendedlogs/states/{service_name}-{construct_id}",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY,
        )
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
            description=f"Autotune: {construct_id}",
        )
        for function in functions.values():
            iam.Grant.add_to_principal(
                grantee=role,
                actions=["lambda:InvokeFunction"],
                resource_arns=[function.function.function_arn],
            )
        self.state_machine = stepfunctions.StateMachine(
            self,
            "StateMachine",
            definition_body=stepfunctions.DefinitionBody.from_string(definition.read_text()),
            definition_substitutions={
                name: function.function.function_arn for name, function in functions.items()
            },
            state_machine_type=stepfunctions.StateMachineType.STANDARD,
            role=role,
            tracing_enabled=True,
            logs=stepfunctions.LogOptions(
                destination=log_group,
                level=stepfunctions.LogLevel.ERROR,
                include_execution_data=False,
            ),
        )
        Validations.of(role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason=(
                    "The X-Ray actions that tracing needs and the log delivery actions that "
                    "state machine logging needs do not support resource-level permissions."
                ),
            )
        )
        Validations.of(self.state_machine).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SF1",
                reason=(
                    "Errors alone are logged: logging every event of every execution would cost "
                    "more than its work, and the execution history keeps all events for 90 days."
                ),
            )
        )

    def grant_wake(self, function: ServiceFunction) -> None:
        """Lets a function end waits of executions, and neither fail nor start any.

        The policy is none of those that the function depends on: an execution invokes a function
        that ends waits, and each would have to be made before the other. It stands beside the
        function, whose stack knows that of the workflow and not the other way round.
        """
        self._grant_from_inside(function, "Wakes", action="states:SendTaskSuccess")

    def grant_continue(self, function: ServiceFunction) -> None:
        """Lets a function that the workflow invokes start executions of it."""
        self._grant_from_inside(function, "Continues", action="states:StartExecution")

    def _grant_from_inside(self, function: ServiceFunction, name: str, *, action: str) -> None:
        iam.Policy(
            function,
            f"{name}{self.node.id}",
            roles=[function.role],
            statements=[
                iam.PolicyStatement(
                    actions=[action], resources=[self.state_machine.state_machine_arn]
                )
            ],
        )
