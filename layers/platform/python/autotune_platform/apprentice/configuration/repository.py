"""Where tasks of the apprentice are stored, with the versions of their configurations."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from autotune.protocol.apprentice_names import TASK_NAME
from autotune.protocol.limits import MAX_APPRENTICE_TASKS
from autotune.protocol.problems import LimitProblem
from autotune_platform.apprentice.configuration.items import (
    CONFIGURATION,
    COUNTS,
    TASK,
    configuration_key,
    item_of,
    model_from,
    tasks_of,
)
from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.runtime.errors import TooManyEntitiesError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.numbered import numbered_page
from autotune_platform.storage.table import Item, Key, Table
from autotune_platform.storage.transactions import Add, Condition, Delete, Put, Write

_NEW = Condition(exists=False)
_COUNTED = "tasks"


class TaskRepository:
    """Tasks and configurations in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, organization_id: str, name: str) -> ApprenticeTask | None:
        """Return a task by its name, one that is being deleted too."""
        item = self._table.get(tasks_of(organization_id), TASK + name)
        return model_from(item, ApprenticeTask) if item else None

    def ids_of(self, organization_id: str, names: Iterable[str]) -> Mapping[str, str]:
        """Return ids of an organisation's tasks by their names, without those that are gone."""
        pk = tasks_of(organization_id)
        keys = [(pk, TASK + name) for name in names]
        found = self._table.get_many(keys, attributes=("name", "id", "state")).values()
        return {one["name"]: one["id"] for one in found if one["state"] == "kept"}

    def add(self, task: ApprenticeTask, first: Configuration) -> bool:
        """Store a new task with its first configuration.

        Returns:
            False where there is one of its name; then nothing is written.

        Raises:
            TooManyEntitiesError: the organisation has as many as it may.
            UnavailableError: the table is busy.
        """
        refused = self._table.transact(
            [
                Put(item=_task_item(task), condition=_NEW),
                Put(item=_configuration_item(first), condition=_NEW),
                Add(
                    pk=tasks_of(task.organization_id),
                    sk=COUNTS,
                    name=_COUNTED,
                    by=1,
                    below=MAX_APPRENTICE_TASKS,
                    changes={"organization_id": task.organization_id},
                ),
            ]
        )
        if 0 in refused:
            return False
        if refused:
            most = MAX_APPRENTICE_TASKS
            raise TooManyEntitiesError(
                f"the organization has {most} tasks of the apprentice; delete one first",
                limit=LimitProblem(name="tasks", maximum=most, unit="tasks", actual=most),
            )
        return True

    def change(
        self, before: ApprenticeTask, after: ApprenticeTask, added: Configuration, *also: Write
    ) -> bool:
        """Store a task's next configuration; return False where the task changed or went.

        Args:
            also: what is written in the same transaction.
        """
        unchanged = Condition(only_if={"id": before.id, **_standing(before)})
        return not self._table.transact(
            [
                Put(item=_task_item(after), condition=unchanged),
                Put(item=_configuration_item(added), condition=_NEW),
                *also,
            ]
        )

    def configuration(self, task_id: str, version: int) -> Configuration | None:
        """Return a version of a task's configuration."""
        item = self._table.get(task_id, configuration_key(version))
        return model_from(item, Configuration) if item else None

    def latest(self, task_id: str) -> Configuration | None:
        """Return a task's present configuration; None where the task is gone."""
        found, _ = self.configurations(task_id, limit=1, next_token=None)
        return found[0] if found else None

    def configurations(
        self, task_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Configuration], str | None]:
        """Return a page of a task's configurations, newest first; a megabyte of them at most.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        items, token = numbered_page(
            self._table,
            task_id,
            CONFIGURATION,
            configuration_key,
            limit=limit,
            next_token=next_token,
        )
        return [model_from(item, Configuration) for item in items], token

    def list(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[ApprenticeTask], str | None]:
        """Return a page of an organisation's tasks by name, those too that are being deleted.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        pk = tasks_of(organization_id)
        after = None
        if next_token is not None:
            (name,) = decode_cursor(next_token, parts=1)
            if TASK_NAME.fullmatch(name) is None:
                raise invalid_cursor()
            after = {"pk": pk, "sk": TASK + name}
        page = self._table.query(pk, starting=TASK, limit=limit, after=after)
        last_sk = page.last_key["sk"] if page.last_key else None
        token = encode_cursor(last_sk.removeprefix(TASK)) if last_sk else None
        return [model_from(item, ApprenticeTask) for item in page.items], token

    def mark(self, task: ApprenticeTask, at: datetime) -> bool:
        """Mark a task as being deleted since a time; return False where it changed or went.

        It is open from then on: what a request has no time for, a sweep goes on with.
        """
        pk, sk = tasks_of(task.organization_id), TASK + task.name
        unchanged = {"id": task.id, **_standing(task)}
        changes = {"state": "deleting", **DueIndex.opened_in(task.id, at, shards=1)}
        return self._table.update(pk, sk, changes, only_if=unchanged) is not None

    def find_at(self, key: Key) -> ApprenticeTask | None:
        """Return the task that an item stores."""
        item = self._table.get(*key)
        return model_from(item, ApprenticeTask) if item else None

    def erase(self, task: ApprenticeTask) -> None:
        """Erase a task that is marked, with all that belongs to it; a repeat goes on with it.

        Raises:
            UnavailableError: the table is busy.
        """
        for item in self._table.items(task.id, starting=CONFIGURATION):
            self._table.delete(task.id, item["sk"])
        pk = tasks_of(task.organization_id)
        marked = Condition(only_if={"id": task.id, "state": "deleting"})
        less = Add(pk=pk, sk=COUNTS, name=_COUNTED, by=-1)
        # Of two that erase it at the same time, one takes it off the count.
        self._table.transact([Delete(pk=pk, sk=TASK + task.name, condition=marked), less])


def _standing(task: ApprenticeTask) -> dict[str, object]:
    return {"version": task.version, "state": task.state}


def _task_item(task: ApprenticeTask) -> Item:
    return item_of(task, pk=tasks_of(task.organization_id), sk=TASK + task.name)


def _configuration_item(configuration: Configuration) -> Item:
    sk = configuration_key(configuration.version)
    return item_of(configuration, pk=configuration.task_id, sk=sk)
