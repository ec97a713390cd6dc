"""Where tasks are stored."""

from collections.abc import Iterable

from autotune_platform.storage.registry import (
    RECORD,
    collection,
    entity_attributes,
    entity_from,
    entity_item,
    find_entity,
    ids_in,
    list_collection,
)
from autotune_platform.storage.table import Item, Table
from autotune_platform.tasks.models import Task

_DELETED = "deleted_task"


class TaskRepository:
    """Tasks in the ``registry`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, task: Task) -> None:
        """Store a new task."""
        self._table.put_new(_item(task))

    def get(self, task_id: str) -> Task | None:
        """Return a task of any organisation."""
        return find_entity(self._table, "task", task_id, Task)

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

    def list(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Task], str | None]:
        """Return a page of an organisation's tasks."""
        name = collection(organization_id, "task")
        return list_collection(self._table, name, Task, limit=limit, next_token=next_token)

    def replace(self, before: Task, after: Task) -> bool:
        """Store a changed task; return False where it changed or went in the meantime."""
        unchanged = {"updated_at": entity_attributes(before)["updated_at"]}
        return self._table.replace(before.id, RECORD, _item(after), only_if=unchanged)

    def delete(self, task: Task) -> None:
        """Delete a task; its completions and verdicts stay, and so does its id."""
        # Kept first: whoever walks through the ids finds it in one place or in both.
        listed = collection(task.organization_id, _DELETED)
        self._table.put_new({"pk": task.id, "sk": _DELETED, "collection": listed})
        self._table.delete(task.id, RECORD)


def _item(task: Task) -> Item:
    listed = collection(task.organization_id, "task")
    return entity_item(task, pk=task.id, in_collection=listed)
