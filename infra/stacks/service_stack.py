"""The running service: API, queues, workflow and the functions behind them."""

from collections.abc import Callable, Mapping
from typing import Any

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.config import REPOSITORY_ROOT, DeploymentConfig
from infra.constructs.operations_alarms import OperationsAlarms
from infra.constructs.priority_queue import DrainRate, PriorityQueue
from infra.constructs.scoring_workflow import ScoringWorkflow
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_package import ServicePackage
from infra.constructs.signed_api import SignedApi
from infra.indexes import BY_COLLECTION_INDEX, OPEN_BATCHES_INDEX, SCORES_BY_TASK_INDEX
from infra.stacks.data_stack import DataStack

# An HTTP API gives up on a function after 30 seconds.
API_TIMEOUT = Duration.seconds(29)
DISPATCH_TIMEOUT = Duration.seconds(30)
GRADE_TIMEOUT = Duration.seconds(120)
FAIL_TIMEOUT = Duration.seconds(60)
OPERATOR_TIMEOUT = Duration.seconds(30)
SWEEP_TIMEOUT = Duration.seconds(60)

DRAIN_RATES = {
    "High": DrainRate(max_concurrency=20, batching_window_seconds=0),
    "Normal": DrainRate(max_concurrency=10, batching_window_seconds=0),
    "Low": DrainRate(max_concurrency=2, batching_window_seconds=5),
}
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "score_completions.asl.json"


class ServiceStack(Stack):
    """Holds no data: it can be deleted and deployed again over the data stack."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: DeploymentConfig,
        data: DataStack,
        **stack_inputs: Any,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Autotune: API, queues, scoring workflow and functions",
            **stack_inputs,
        )
        self._data = data
        data.content.acknowledge_object_wildcard(self)
        self._package = ServicePackage(
            self,
            "Package",
            platform=config.build_platform,
            environment={
                "REGISTRY_TABLE": data.registry.table.table_name,
                "SECRETS_KEY_ID": data.secrets_key.key.key_id,
                "POWERTOOLS_LOG_LEVEL": "INFO",
            },
        ).shared
        self._content_environment = {
            "COMPLETIONS_TABLE": data.completions.table.table_name,
            "CONTENT_BUCKET": data.content.bucket.bucket_name,
        }
        self._grader_environment = {
            "ADMIT_PRIVATE_ADDRESSES": str(config.admits_private_addresses).lower(),
        }
        self._queues = {
            priority: PriorityQueue(
                self, f"{priority}Priority", consumer_timeout=DISPATCH_TIMEOUT, drain_rate=rate
            )
            for priority, rate in DRAIN_RATES.items()
        }

        workflow = self._create_scoring()
        api = self._create_api(config)
        operator_functions = {
            "CreateOrganization": self._create_operator_function(),
            **self._create_repair_functions(),
        }
        alarms = OperationsAlarms(self, "Alarms", encryption_key=data.data_key.key)
        for priority, queue in self._queues.items():
            alarms.watch_dead_letters(queue.dead_letters, priority=priority)
        alarms.watch_runs(workflow.state_machine, name="ScoreCompletions")

        CfnOutput(self, "ApiUrl", value=api.api.api_endpoint, description="Base URL of the API")
        CfnOutput(
            self,
            "ApiId",
            value=api.api.api_id,
            description="Identifies the API where it has no host name of its own",
        )
        for name, function in operator_functions.items():
            CfnOutput(
                self,
                f"{name}FunctionName",
                value=function.function.function_name,
                description="Operators invoke it: autotune ops",
            )
        CfnOutput(
            self,
            "AlarmTopicArn",
            value=alarms.topic.topic_arn,
            description="Subscribe to it to hear of alarms",
        )

    def _create_scoring(self) -> ScoringWorkflow:
        """Dispatch, grade and fail chunks; only dispatch starts executions."""
        data = self._data
        grade = self._function(
            "GradeChunk",
            handler="functions.scoring.grade_chunk.lambda_handler",
            description="Has a chunk of completions graded and writes the verdicts",
            timeout=GRADE_TIMEOUT,
            environment={
                **self._content_environment,
                **self._grader_environment,
                "BUDGETS_TABLE": data.budgets.table.table_name,
            },
        )
        data.registry.grant_read(grade.function)
        data.budgets.grant_read_change(grade.function)
        data.completions.grant_read_write(grade.function)
        data.content.grant_read(grade.function)
        data.secrets_key.grant_derive(grade.function)

        fail = self._function(
            "FailChunk",
            handler="functions.scoring.fail_chunk.lambda_handler",
            description="Writes failed verdicts for what a run could not have graded",
            timeout=FAIL_TIMEOUT,
            environment=self._content_environment,
        )
        data.completions.grant_read_write(fail.function)

        workflow = ScoringWorkflow(
            self,
            "ScoreCompletions",
            definition=STATE_MACHINE_DEFINITION,
            functions={"GradeChunkFunctionArn": grade, "FailChunkFunctionArn": fail},
        )
        dispatch = self._function(
            "DispatchChunks",
            handler="functions.completions.dispatch_chunks.lambda_handler",
            description="Starts a run of the scoring workflow for each chunk in a queue",
            timeout=DISPATCH_TIMEOUT,
            environment={"SCORE_COMPLETIONS_ARN": workflow.state_machine.state_machine_arn},
        )
        workflow.state_machine.grant_start_execution(dispatch.function)
        for queue in self._queues.values():
            queue.drain_into(dispatch)
        return workflow

    def _create_api(self, config: DeploymentConfig) -> SignedApi:
        """One function a domain; each reads keys and writes request ids in the registry."""
        access = self._api_function("AccessApi", domain="access")
        tasks = self._api_function("TasksApi", domain="tasks")
        graders = self._api_function(
            "GradersApi", domain="graders", environment=self._grader_environment
        )
        for lister in (access, tasks, graders):
            self._data.registry.grant_query_index(lister.function, index_name=BY_COLLECTION_INDEX)
        completions = self._api_function(
            "CompletionsApi",
            domain="completions",
            environment={
                **self._content_environment,
                **self._queue_environment("QUEUE", lambda queue: queue.queue),
            },
        )
        self._data.completions.grant_read_write(completions.function)
        self._data.content.grant_read_write(completions.function)
        for queue in self._queues.values():
            queue.queue.grant_send_messages(completions.function)

        scoring = self._api_function(
            "ScoringApi", domain="scoring", environment=self._content_environment
        )
        self._data.completions.grant_read(scoring.function)
        self._data.completions.grant_query_index(scoring.function, index_name=SCORES_BY_TASK_INDEX)
        self._data.content.grant_read(scoring.function)

        api = SignedApi(
            self,
            "Api",
            requests_per_second=config.api_requests_per_second,
            burst_requests=config.api_burst_requests,
        )
        api.route(access, paths=resource_paths("keys"))
        api.route(tasks, paths=resource_paths("tasks"))
        api.route(graders, paths=resource_paths("graders"))
        api.route(completions, paths=[*resource_paths("completions"), *resource_paths("batches")])
        api.route(scoring, paths=resource_paths("scores"))
        api.route_unknown_paths(access)
        return api

    def _create_operator_function(self) -> ServiceFunction:
        """Has no route: whoever may invoke it with AWS credentials is an operator."""
        function = self._function(
            "CreateOrganization",
            handler="functions.operations.create_organization.lambda_handler",
            description="Creates an organization and its first admin key",
            timeout=OPERATOR_TIMEOUT,
        )
        self._data.registry.grant_read_write(function.function)
        self._data.secrets_key.grant_derive(function.function)
        return function

    def _create_repair_functions(self) -> dict[str, ServiceFunction]:
        """Sweep every minute what got stuck; tell and repair the rest when an operator asks."""
        queues = self._queue_environment("QUEUE", lambda queue: queue.queue)
        sweep = self._function(
            "SweepBatches",
            handler="functions.operations.sweep_batches.lambda_handler",
            description="Drives again what is pending longer than it should be",
            timeout=SWEEP_TIMEOUT,
            environment={**self._content_environment, **queues},
        )
        self._data.completions.grant_read_write(sweep.function)
        for queue in self._queues.values():
            queue.queue.grant_send_messages(sweep.function)
        events.Rule(
            self,
            "SweepEveryMinute",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            targets=[targets.LambdaFunction(sweep.function, retry_attempts=0)],
        )
        stuck = self._function(
            "ListStuck",
            handler="functions.operations.list_stuck.lambda_handler",
            description="Tells which batches are overdue",
            timeout=OPERATOR_TIMEOUT,
            environment={**self._content_environment, **queues},
        )
        self._data.completions.grant_read(stuck.function)
        for function in (sweep, stuck):
            self._data.completions.grant_query_index(
                function.function, index_name=OPEN_BATCHES_INDEX
            )
            self._data.content.grant_read(function.function)
        redrive = self._function(
            "RedriveDeadLetters",
            handler="functions.operations.redrive_dead_letters.lambda_handler",
            description="Moves dead letters back to their queues",
            timeout=SWEEP_TIMEOUT,
            environment={
                **queues,
                **self._queue_environment("DEAD_LETTERS", lambda queue: queue.dead_letters),
            },
        )
        for queue in self._queues.values():
            queue.queue.grant_send_messages(redrive.function)
            queue.dead_letters.grant_consume_messages(redrive.function)
        return {"SweepBatches": sweep, "ListStuck": stuck, "RedriveDeadLetters": redrive}

    def _queue_environment(
        self, suffix: str, which: Callable[[PriorityQueue], sqs.Queue]
    ) -> dict[str, str]:
        return {
            f"{priority.upper()}_{suffix}_URL": which(queue).queue_url
            for priority, queue in self._queues.items()
        }

    def _api_function(
        self, construct_id: str, *, domain: str, environment: Mapping[str, str] | None = None
    ) -> ServiceFunction:
        function = self._function(
            construct_id,
            handler=f"functions.{domain}.api.lambda_handler",
            description=f"Answers the API's requests about {domain}",
            timeout=API_TIMEOUT,
            environment=environment,
        )
        self._data.registry.grant_read_write(function.function)
        self._data.secrets_key.grant_derive(function.function)
        return function

    def _function(
        self,
        construct_id: str,
        *,
        handler: str,
        description: str,
        timeout: Duration,
        environment: Mapping[str, str] | None = None,
    ) -> ServiceFunction:
        return ServiceFunction(
            self,
            construct_id,
            package=self._package,
            handler=handler,
            description=description,
            timeout=timeout,
            environment=environment,
        )


def resource_paths(resource: str) -> list[str]:
    """Paths of a collection and of everything below it."""
    return [f"/api/v1/{resource}", f"/api/v1/{resource}/{{proxy+}}"]
