"""The apprentice: tasks whose work moves from a paid model to a small one."""

from collections.abc import Mapping

from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.apprentice_folding import ApprenticeFolding
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack

TASKS = "apt_*"
RUNS = "apr_*"
LISTS = "org_*#tasks"


class ApprenticeStack(DomainStack):
    """Holds the functions of the apprentice.

    Attributes:
        apprentice_environment: For functions that read or write its tasks.
    """

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(
            scope, domain="apprentice", shared=shared, holds="tasks that two models answer"
        )
        self.apprentice_environment: Mapping[str, str] = {
            "APPRENTICE_TABLE": shared.data.apprentice.table.table_name,
        }
        self._add_tasks(http)
        ApprenticeFolding(self)

    def _add_tasks(self, http: HttpStack) -> None:
        tasks = self.create_api(
            "ApprenticeApi",
            environment={**self.apprentice_environment, **self.grader_environment},
        )
        table = self.shared.data.apprentice
        for keys in (TASKS, LISTS):
            table.grant_read(tasks.function, "GetItem", "Query", keys=keys)
        # A task goes with its runs, and with all that is known of it.
        for keys in (TASKS, RUNS):
            table.grant_write(tasks.function, "BatchWriteItem", keys=keys)
        table.grant_write(tasks.function, "DeleteItem", "PutItem", keys=TASKS)
        table.grant_write(tasks.function, "DeleteItem", "PutItem", "UpdateItem", keys=LISTS)
        http.api.route(tasks, paths=resource_paths("apprentice"))
