"""Parts that manage tasks."""

from functools import cached_property

from autotune_platform.tasks.repository import TaskRepository
from autotune_platform.tasks.service import TaskService
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.graders import GraderParts


class TaskParts(GraderParts):
    """Tasks."""

    @cached_property
    def tasks(self) -> TaskService:
        return TaskService(repository=TaskRepository(self.registry_table), graders=self.graders)


class TaskApiParts(ApiParts, TaskParts):
    """What manages tasks."""
