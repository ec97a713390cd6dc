"""The apprentice: tasks whose work moves from a paid model to a small one."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.domain_stack import MONEY, REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack

TASKS = "apt_*"
LISTS = "org_*#tasks"
RUNS = "apr_*"
RUNS_OF_DAYS = "apt_*#runs#*"
COSTS = "cost#*"
TRACED_COSTS = "traced#*"
# A call may take four minutes (``MAX_LLM_CALL_SECONDS``).
WORK_TIMEOUT = Duration.minutes(5)
# A run that a killed worker had is to be looked at while somebody may still want its answer.
COMES_AGAIN_AFTER = Duration.seconds(330)
# One run a function: one that takes long holds up no other.
WORK_RATE = DrainRate(max_concurrency=50, batching_window_seconds=0, batch_size=1)
LONGEST_RUN = Duration.minutes(15)


class ApprenticeStack(DomainStack):
    """Holds the functions of the apprentice.

    Attributes:
        apprentice_environment: For functions that read or write its tasks.
        runs: Runs that are to be worked on.
    """

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, ledger: LedgerStack
    ) -> None:
        super().__init__(
            scope, domain="apprentice", shared=shared, holds="tasks that two models answer"
        )
        self.apprentice_environment: Mapping[str, str] = {
            "APPRENTICE_TABLE": shared.data.apprentice.table.table_name,
        }
        self._add_tasks(http)
        self.runs = WorkQueue(
            self,
            "Runs",
            name="runs",
            consumer_timeout=WORK_TIMEOUT,
            drain_rate=WORK_RATE,
            comes_again_after=COMES_AGAIN_AFTER,
        )
        self.alarms.watch_dead_letters(self.runs.dead_letters, of="Runs")
        self.alarms.watch_waiting(self.runs.queue, of="Runs", longest=LONGEST_RUN)
        worker = self._add_worker(ledger)
        self._add_runs(http, ledger, worker)

    def _add_tasks(self, http: HttpStack) -> None:
        tasks = self.create_api(
            "ApprenticeApi",
            environment={**self.apprentice_environment, **self.grader_environment},
        )
        table = self.shared.data.apprentice
        for keys in (TASKS, LISTS):
            table.grant_read(tasks.function, "GetItem", "Query", keys=keys)
        table.grant_write(tasks.function, "DeleteItem", "PutItem", keys=TASKS)
        table.grant_write(tasks.function, "DeleteItem", "PutItem", "UpdateItem", keys=LISTS)
        http.api.route(tasks, paths=resource_paths("apprentice"))

    def _add_worker(self, ledger: LedgerStack) -> ServiceFunction:
        """Has models answer runs: the one function of this domain with keys of connections."""
        data = self.shared.data
        worker = self.create(
            "WorkRuns",
            module="work_runs",
            description="Has models answer runs of the apprentice",
            timeout=WORK_TIMEOUT,
            environment={
                **self.apprentice_environment,
                **ledger.call_environment,
                "RUN_QUEUE_URL": self.runs.queue.queue_url,
            },
        )
        function = worker.function
        for keys in (TASKS, LISTS, RUNS):
            data.apprentice.grant_read(function, "GetItem", keys=keys)
        data.apprentice.grant_write(function, "PutItem", "UpdateItem", keys=RUNS)
        ledger.grant_calls(worker)
        # Rows of its own, what they cost, by which keys, and that a budget had no room for one.
        data.ledger.grant_read(function, "GetItem")
        data.ledger.grant_read(function, "BatchGetItem", keys=REQUESTS)
        data.ledger.grant_write(function, "PutItem", "UpdateItem", keys=REQUESTS)
        for keys in (COSTS, TRACED_COSTS, MONEY):
            data.ledger.grant_write(function, "UpdateItem", keys=keys)
        data.ledger_texts.grant_read_write(function)
        # Runs that another worker has, or whose next attempt has to wait, are looked at again.
        self.runs.grant_send(worker)
        self.runs.drain_into(worker)
        return worker

    def _add_runs(self, http: HttpStack, ledger: LedgerStack, worker: ServiceFunction) -> None:
        """Routes runs; whoever waits for one waits for the worker."""
        data = self.shared.data
        api = self.create_api(
            "ApprenticeRunsApi",
            module="runs_api",
            environment={
                **self.apprentice_environment,
                **ledger.stores_environment,
                **self.grader_environment,
                "RUN_QUEUE_URL": self.runs.queue.queue_url,
                "WORK_RUNS_FUNCTION": worker.function.function_name,
            },
        )
        self.grant_share_waiting(api)
        function = api.function
        for keys in (TASKS, LISTS, RUNS):
            data.apprentice.grant_read(function, "GetItem", keys=keys)
        data.apprentice.grant_read(function, "Query", keys=RUNS_OF_DAYS)
        data.apprentice.grant_write(function, "PutItem", keys=RUNS)
        # What the paid model answered lies with its row.
        data.ledger.grant_read(function, "BatchGetItem", "GetItem", keys=REQUESTS)
        data.ledger_texts.grant_read(function)
        self.runs.grant_send(api)
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["lambda:InvokeFunction"],
            resource_arns=[worker.function.function_arn],
        )
        http.api.route(api, paths=["/api/v1/apprentice/tasks/{taskName}/runs"])
        http.api.route(
            api,
            paths=["/api/v1/apprentice/runs/{runId}"],
            method=apigateway.HttpMethod.GET,
        )
