"""Completions and their scores, and the queues in which they wait to be scored."""

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.domain_stack import CALLS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BATCHES_BY_TIME_INDEX, BY_COLLECTION_INDEX, SCORES_BY_TASK_INDEX

WAITING_READS = ("/api/v1/completions/{completionId}/score", "/api/v1/batches/{batchId}")
COMPARISON = "/api/v1/tasks/{taskId}/comparison"
OPEN_COUNTS = "open#*"
DISPATCH_TIMEOUT = Duration.seconds(30)
DRAIN_RATES = {
    "High": DrainRate(max_concurrency=20, batching_window_seconds=0),
    "Normal": DrainRate(max_concurrency=10, batching_window_seconds=0),
    "Low": DrainRate(max_concurrency=2, batching_window_seconds=5),
}
# An organisation's backlog waits on the queue; another's does not wait for it.
LONGEST_WAITS = {
    "High": Duration.minutes(15),
    "Normal": Duration.hours(1),
    "Low": Duration.hours(24),
}


class CompletionsStack(DomainStack):
    """Holds the functions of completions and of scores, and the queue of each priority.

    Attributes:
        queues: The queue of each priority.
        submission: The function that takes completions.
        queue_environment: For functions that queue chunks.
    """

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="completions", shared=shared, holds="submission and lists")
        self.queues = {
            priority: WorkQueue(
                self,
                f"{priority}Priority",
                name=priority.lower(),
                consumer_timeout=DISPATCH_TIMEOUT,
                drain_rate=rate,
            )
            for priority, rate in DRAIN_RATES.items()
        }
        for priority, queue in self.queues.items():
            self.alarms.watch_dead_letters(queue.dead_letters, of=priority)
            self.alarms.watch_waiting(queue.queue, of=priority, longest=LONGEST_WAITS[priority])
        self.queue_environment = {
            f"{priority.upper()}_QUEUE_URL": queue.queue.queue_url
            for priority, queue in self.queues.items()
        }

        data = shared.data
        self.submission = completions = self.create_api(
            "CompletionsApi", environment={**self.content_environment, **self.queue_environment}
        )
        data.registry.grant_read(completions.function, "BatchGetItem")
        data.completions.grant_read(completions.function, "BatchGetItem", "GetItem", "Query")
        data.completions.grant_write(
            completions.function, "BatchWriteItem", "PutItem", "UpdateItem"
        )
        for index in (SCORES_BY_TASK_INDEX, BATCHES_BY_TIME_INDEX):
            data.completions.grant_query_index(completions.function, index_name=index)
        data.content.grant_read(completions.function, names=OF_COMPLETIONS)
        data.content.grant_put(completions.function, names=OF_COMPLETIONS)
        data.content.grant_delete(completions.function, names=OF_COMPLETIONS)
        data.completions.grant_write(completions.function, "DeleteItem", keys=CALLS)
        self.grant_send(completions)
        for resource in ("completions", "batches"):
            http.api.route(completions, paths=resource_paths(resource))
        self._add_waiting_reads(http)

        scores = self.create_api(
            "ScoresApi", module="scores_api", environment=self.content_environment
        )
        data.registry.grant_read(scores.function, "BatchGetItem")
        data.completions.grant_read(scores.function, "BatchGetItem")
        data.completions.grant_query_index(scores.function, index_name=SCORES_BY_TASK_INDEX)
        data.registry.grant_query_index(scores.function, index_name=BY_COLLECTION_INDEX)
        data.content.grant_read(scores.function, names=OF_COMPLETIONS)
        http.api.route(scores, paths=resource_paths("scores"))
        http.api.route(scores, paths=[COMPARISON], method=apigateway.HttpMethod.GET)

    def _add_waiting_reads(self, http: HttpStack) -> None:
        """Route the two reads that wait to a function with a bound of its own.

        Clients that wait hold a function each: without a bound they would take those that grade.
        """
        # Not closed with the reward URLs: clients read all their verdicts here.
        functions = self.shared.config.waiting_functions or None
        waits = self.create_api(
            "WaitingApi",
            module="waiting_api",
            environment={
                **self.content_environment,
                "BUDGETS_TABLE": self.shared.data.budgets.table.table_name,
                # A fifth is left to those who read without waiting.
                **({} if functions is None else {"WAITING_READS": str(functions * 4 // 5)}),
            },
            most_at_once=functions,
        )
        self.shared.data.completions.grant_read(waits.function, "BatchGetItem", "GetItem", "Query")
        self.grant_share_waiting(waits)
        for path in WAITING_READS:
            http.api.route(waits, paths=[path], method=apigateway.HttpMethod.GET)

    def grant_send(self, function: ServiceFunction) -> None:
        """Lets a function queue chunks; it also needs ``queue_environment``."""
        for queue in self.queues.values():
            queue.grant_send(function)
