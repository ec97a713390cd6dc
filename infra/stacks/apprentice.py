"""The apprentice: tasks whose work moves from a paid model to a small one."""

from collections.abc import Mapping

from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.apprentice_folding import ApprenticeFolding
from infra.stacks.apprentice_hosting import ApprenticeHosting
from infra.stacks.apprentice_runs import ApprenticeRuns
from infra.stacks.apprentice_students import ApprenticeStudents
from infra.stacks.apprentice_training import ApprenticeTraining
from infra.stacks.domain_stack import REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack

TASKS = "apt_*"
RUNS = "apr_*"
LISTS = "org_*#tasks"
CONNECTIONS = "llc_*"
EXAMPLES = [
    "/api/v1/apprentice/tasks/{taskName}/examples",
    "/api/v1/apprentice/tasks/{taskName}/examples/{proxy+}",
]
REPORT = "/api/v1/apprentice/tasks/{taskName}/report"
FIGURES = [f"/api/v1/apprentice/tasks/{{taskName}}/{shown}" for shown in ("status", "estimate")]
# Those of tasks alone.
TASKS_MONEY = "money#org_*#apt_*"


class ApprenticeStack(DomainStack):
    """Holds the functions of the apprentice.

    Attributes:
        apprentice_environment: For functions that read or write its tasks.
        answering: What takes inputs, and has them answered.
        runs: Runs that are to be worked on.
        students: Linear students, and what asks them.
        train_student: The workflow of a training.
    """

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, ledger: LedgerStack
    ) -> None:
        super().__init__(
            scope, domain="apprentice", shared=shared, holds="tasks that two models answer"
        )
        self.apprentice_environment: Mapping[str, str] = {
            "APPRENTICE_TABLE": shared.data.apprentice.table.table_name,
            "BUDGETS_TABLE": shared.data.budgets.table.table_name,
        }
        self._add_tasks(http)
        self._add_reports(http)
        self._add_examples(http, ledger)
        self.students = ApprenticeStudents(self)
        self.answering = ApprenticeRuns(self, http=http, ledger=ledger, students=self.students)
        self.runs = self.answering.queue
        ApprenticeFolding(self, runs=self.runs)
        ApprenticeHosting(self)
        self.train_student = ApprenticeTraining(
            self, http=http, ledger=ledger, students=self.students
        ).state_machine

    def _add_tasks(self, http: HttpStack) -> None:
        tasks = self.create_api(
            "ApprenticeApi",
            environment={
                **self.apprentice_environment,
                **self.grader_environment,
                **self.shared.config.prices_environment,
                "APPRENTICE_BUCKET": self.shared.data.apprentice_files.bucket.bucket_name,
                "LEDGER_TABLE": self.shared.data.ledger.table.table_name,
                "PROVIDER_KEYS_KEY": self.shared.data.provider_keys.key.key_id,
            },
        )
        table = self.shared.data.apprentice
        for keys in (TASKS, LISTS):
            table.grant_read(tasks.function, "ConditionCheckItem", "GetItem", "Query", keys=keys)
            table.grant_write(tasks.function, "DeleteItem", "PutItem", "UpdateItem", keys=keys)
        # A task goes with its runs, its models, and all that is known of it.
        self.shared.data.apprentice_files.grant_delete(tasks.function)
        for keys in (TASKS, RUNS):
            table.grant_write(tasks.function, "BatchWriteItem", keys=keys)
        # A task's limits are in its scope of money, which is closed when it is deleted.
        self.shared.data.budgets.grant_read(tasks.function, "GetItem", keys=TASKS_MONEY)
        self.shared.data.budgets.grant_write(tasks.function, "UpdateItem", keys=TASKS_MONEY)
        # To register a model, its server is asked for it, with the key that it demands.
        self.shared.data.ledger.grant_read(tasks.function, "GetItem", keys=CONNECTIONS)
        self.shared.data.provider_keys.grant_open(tasks)
        self.shared.data.certificates_key.grant_read(tasks)
        http.api.route(tasks, paths=resource_paths("apprentice"))

    def _add_examples(self, http: HttpStack, ledger: LedgerStack) -> None:
        data = self.shared.data
        examples = self.create_api(
            "ApprenticeExamplesApi",
            module="examples_api",
            environment={
                **self.apprentice_environment,
                **self.grader_environment,
                **ledger.stores_environment,
            },
        )
        function = examples.function
        data.apprentice.grant_read(function, "ConditionCheckItem", "GetItem", keys=LISTS)
        data.apprentice.grant_read(function, "BatchGetItem", "GetItem", "Query", keys=TASKS)
        data.apprentice.grant_write(function, "DeleteItem", "UpdateItem", keys=TASKS)
        data.budgets.grant_read(function, "GetItem", keys=TASKS_MONEY)
        # Texts are where runs have them: inputs in their items, answers in the ledger.
        data.apprentice.grant_read(function, "BatchGetItem", keys=RUNS)
        data.ledger.grant_read(function, "BatchGetItem", keys=REQUESTS)
        data.ledger_texts.grant_read(function)
        for path in EXAMPLES:
            http.api.route(examples, paths=[path])

    def _add_reports(self, http: HttpStack) -> None:
        data = self.shared.data
        reports = self.create_api(
            "ApprenticeReportsApi",
            module="reports_api",
            environment={**self.apprentice_environment, **self.grader_environment},
        )
        data.apprentice.grant_read(reports.function, "GetItem", keys=LISTS)
        data.apprentice.grant_read(reports.function, "GetItem", "Query", keys=TASKS)
        data.budgets.grant_read(reports.function, "GetItem", keys=TASKS_MONEY)
        # A report that is sent to webhooks is an event of its task.
        data.apprentice.grant_write(reports.function, "PutItem", keys=TASKS)
        for path in FIGURES:
            http.api.route(reports, paths=[path], method=apigateway.HttpMethod.GET)
        http.api.route(reports, paths=[REPORT])
