"""Tasks."""

from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX


class TasksStack(DomainStack):
    """Holds the function of tasks."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="tasks", shared=shared, holds="tasks")
        tasks = self.create_api("TasksApi")
        shared.data.registry.grant_write(tasks.function, "DeleteItem", "PutItem", keys="task_*")
        shared.data.registry.grant_query_index(tasks.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(tasks)
        http.api.route(tasks, paths=resource_paths("tasks"))
