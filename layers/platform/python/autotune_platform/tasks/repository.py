"""Where tasks are stored."""

from collections.abc import Iterable

from autotune_platform.storage.registry import (
    RECORD,
    EntityRepository,
    collection,
    entity_from,
    ids_in,
)
from autotune_platform.storage.transactions import PRESENT, Delete
from autotune_platform.tasks.models import Task

_DELETED = "deleted_task"


class TaskRepository(EntityRepository[Task]):
    """Tasks in the ``registry`` table."""

    model = Task
    kind = "task"
    listed_as = "task"
    named = "task"
    is_counted = True

    def get_many(self, task_ids: Iterable[str]) -> dict[str, Task]:
        """Return those tasks that exist, of any organisation, by id."""
        items = self._table.get_many((task_id, RECORD) for task_id in task_ids)
        return {pk: entity_from(item, Task) for (pk, _), item in items.items()}

    def is_known(self, organization_id: str, task_id: str) -> bool:
        """Return whether a task, deleted or not, is an organisation's; any costs the same call."""
        listed = {collection(organization_id, kind) for kind in ("task", _DELETED)}
        found = self._table.get_many([(task_id, RECORD), (task_id, _DELETED)])
        return any(item["collection"] in listed for item in found.values())

    def ids(self, organization_id: str, *, after: str | None, limit: int) -> list[str]:
        """Return ids of an organisation's tasks, deleted or not, in their order."""
        found: set[str] = set()
        for kind, sk in (("task", RECORD), (_DELETED, _DELETED)):
            name = collection(organization_id, kind)
            found.update(ids_in(self._table, name, sk=sk, after=after, limit=limit))
        return sorted(found)[:limit]

    def delete(self, task: Task) -> None:
        """Delete a task; its completions and verdicts stay, and so does its id."""
        # Kept first: whoever walks through the ids finds it in one place or in both.
        listed = collection(task.organization_id, _DELETED)
        self._table.put_new({"pk": task.id, "sk": _DELETED, "collection": listed})
        # Deleted twice, it is taken off the count once.
        self._table.transact(
            [
                Delete(pk=task.id, sk=RECORD, condition=PRESENT),
                self.one_less(task.organization_id),
            ]
        )
