"""Runs of the apprentice: their queue, the worker that has models answer them, and their routes."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.apprentice_students import ApprenticeStudents
from infra.stacks.domain_stack import GRADERS, MONEY, REQUESTS, WAITING_REQUESTS, DomainStack
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack

TASKS = "apt_*"
LISTS = "org_*#tasks"
RUNS = "apr_*"
COSTS = "cost#*"
TRACED_COSTS = "traced#*"
# A call may take four minutes (``MAX_LLM_CALL_SECONDS``).
WORK_TIMEOUT = Duration.minutes(5)
# A run that a killed worker had is to be looked at while somebody may still want its answer.
COMES_AGAIN_AFTER = Duration.seconds(330)
# One run a function: one that takes long holds up no other.
WORK_RATE = DrainRate(max_concurrency=50, batching_window_seconds=0, batch_size=1)
LONGEST_RUN = Duration.minutes(15)


class ApprenticeRuns(Construct):
    """What takes inputs, and has them answered.

    Attributes:
        queue: Ids of runs that are to be worked on.
        start_environment: For functions that start runs; ``grant_start`` lets them.
    """

    def __init__(
        self,
        stack: DomainStack,
        *,
        http: HttpStack,
        ledger: LedgerStack,
        students: ApprenticeStudents,
    ) -> None:
        """Makes all of it in the stack of the apprentice.

        Args:
            stack: That stack.
            http: Has the routes.
            ledger: Lets the worker call language models.
            students: Lets it ask linear students.
        """
        super().__init__(stack, "AnsweringRuns")
        self._environment = {"APPRENTICE_TABLE": stack.shared.data.apprentice.table.table_name}
        self.queue = WorkQueue(
            stack,
            "Runs",
            name="runs",
            consumer_timeout=WORK_TIMEOUT,
            drain_rate=WORK_RATE,
            comes_again_after=COMES_AGAIN_AFTER,
        )
        stack.alarms.watch_dead_letters(self.queue.dead_letters, of="Runs")
        stack.alarms.watch_waiting(self.queue.queue, of="Runs", longest=LONGEST_RUN)
        self._data = stack.shared.data
        self._worker = self._add_worker(stack, ledger, students)
        self.start_environment: Mapping[str, str] = {
            **self._environment,
            **ledger.stores_environment,
            "RUN_QUEUE_URL": self.queue.queue.queue_url,
            "WORK_RUNS_FUNCTION": self._worker.function.function_name,
        }
        self._add_runs(stack, http)

    def grant_start(self, starting: ServiceFunction) -> None:
        """Lets a function start runs, wait for their worker, and read what was answered."""
        data, function = self._data, starting.function
        for keys in (LISTS, RUNS):
            data.apprentice.grant_read(function, "GetItem", keys=keys)
        data.apprentice.grant_read(function, "GetItem", "Query", keys=TASKS)
        data.apprentice.grant_write(function, "PutItem", keys=RUNS)
        # What the paid model answered lies with its row.
        data.ledger.grant_read(function, "BatchGetItem", "GetItem", keys=REQUESTS)
        data.ledger_texts.grant_read(function)
        self.queue.grant_send(starting)
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["lambda:InvokeFunction"],
            resource_arns=[self._worker.function.function_arn],
        )

    def _add_worker(
        self, stack: DomainStack, ledger: LedgerStack, students: ApprenticeStudents
    ) -> ServiceFunction:
        """Has models answer runs: the one function of this domain with keys of connections."""
        data = stack.shared.data
        worker = stack.create(
            "WorkRuns",
            module="work_runs",
            description="Has models answer runs of the apprentice",
            timeout=WORK_TIMEOUT,
            # Once a minute it looks at a run that another worker has, or had.
            sends_to_itself=True,
            environment={
                **self._environment,
                **ledger.call_environment,
                **students.ask_environment,
                "RUN_QUEUE_URL": self.queue.queue.queue_url,
            },
        )
        function = worker.function
        for keys in (LISTS, RUNS):
            data.apprentice.grant_read(function, "GetItem", keys=keys)
        data.apprentice.grant_read(function, "GetItem", "Query", keys=TASKS)
        data.apprentice.grant_write(function, "PutItem", "UpdateItem", keys=RUNS)
        ledger.grant_calls(worker)
        students.grant_ask(worker)
        students.grant_compare(worker)
        # Rows of its own, what they cost, by which keys, and that a budget had no room for one.
        data.ledger.grant_read(function, "GetItem")
        data.ledger.grant_read(function, "BatchGetItem", keys=REQUESTS)
        data.ledger.grant_write(function, "PutItem", "UpdateItem", keys=REQUESTS)
        for keys in (COSTS, TRACED_COSTS, MONEY):
            data.ledger.grant_write(function, "UpdateItem", keys=keys)
        data.ledger_texts.grant_read_write(function)
        # A custom evaluator is a grader, asked within its limits.
        data.budgets.grant_write(function, "PutItem", "UpdateItem", keys=GRADERS)
        data.secrets_keys.grant_derive(worker, "grader")
        # Whoever waited for a run that lasts longer keeps a place, which is given back here.
        data.budgets.grant_write(function, "PutItem", keys=WAITING_REQUESTS)
        # Runs that another worker has, or whose next attempt has to wait, are looked at again.
        self.queue.grant_send(worker)
        self.queue.drain_into(worker)
        return worker

    def _grant_erase(self, api: ServiceFunction) -> None:
        """Lets a function delete what runs were asked and answered, and their examples."""
        data = self._data
        data.apprentice.grant_write(api.function, "UpdateItem", keys=RUNS)
        data.apprentice.grant_write(api.function, "DeleteItem", "UpdateItem", keys=TASKS)
        data.ledger.grant_write(api.function, "BatchWriteItem", keys=REQUESTS)
        data.ledger_texts.grant_delete(api.function)

    def _add_runs(self, stack: DomainStack, http: HttpStack) -> None:
        """Routes runs; whoever waits for one waits for the worker."""
        most = stack.shared.config.waiting_runs
        api = stack.create_api(
            "ApprenticeRunsApi",
            module="runs_api",
            environment={
                **self.start_environment,
                **stack.grader_environment,
                **({} if most is None else {"WAITING_RUNS": str(most)}),
            },
        )
        stack.grant_share_waiting(api)
        self.grant_start(api)
        self._grant_erase(api)
        http.api.route(api, paths=["/api/v1/apprentice/tasks/{taskName}/runs"])
        http.api.route(
            api,
            paths=["/api/v1/apprentice/runs/{runId}/content"],
            method=apigateway.HttpMethod.DELETE,
        )
        http.api.route(
            api,
            paths=["/api/v1/apprentice/runs/{runId}"],
            method=apigateway.HttpMethod.GET,
        )
