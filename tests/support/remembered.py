"""What many inputs leave of a task: asked once for a process, and put there in later tests."""

import json
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta

from autotune_platform.runtime.clock import Clock
from tests.support.apprentice_runs import Runs
from tests.support.lambdas import forget_processes
from tests.support.tables import SavedTables, done, items_of_tables

# What each request leaves, whatever it is about.
_OF_REQUESTS = re.compile(r'"pk": \{"S": "(nonce|rate|use|waiting)#')
# A digest has the names in it, and what else it is of is stored beside it; keys are random.
_PASSING = re.compile(
    r"(evt|req|aud)_[0-9a-v]{26}|\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\d[T0-9:.+Z]*|\d{9,}"
)
_SEALED = re.compile(r'\{"B": "[^"]*"\}')
# Long beside a test, and short beside all that is told by its age.
_KEPT_FOR = timedelta(minutes=30)


@dataclass(frozen=True)
class _World:
    """What was stored, and the names in it that each test has others for."""

    tables: SavedTables
    task_id: str
    connection_id: str
    address: str
    at: datetime


_known: dict[Hashable, _World] = {}


def once(runs: Runs, task_id: str, what: Hashable, do: Callable[[], None]) -> str:
    """Do what changes tables alone, unless it was done in this process to what held the same.

    Only what each test makes by another name may differ: its task, connection and provider. So a
    test that made anything else before, a key or an example, has all done anew.

    Args:
        task_id: the task that it is done to.
        what: what is done, which is the same again where this is.

    Returns:
        The id of the task from now on; ``runs`` has that of its connection.
    """
    address = runs.ledger.fake.base_url
    now = Clock().now()
    key = (what, now.date(), _held({task_id: "task", runs.connection_id: "conn", address: "at"}))
    known = _known.get(key)
    if known is None or not timedelta() <= now - known.at < _KEPT_FOR:
        do()
        tables = SavedTables(with_streams=True)
        _known[key] = _World(tables, task_id, runs.connection_id, address, now)
        return task_id
    known.tables.restore()
    _move(known.address, address)
    forget_processes()
    runs.connection_id = known.connection_id
    return known.task_id


def _held(names: dict[str, str]) -> str:
    """What tables hold, but for names that differ, for times, and for texts that are sealed."""
    named = re.compile("|".join(map(re.escape, names)))
    items = [
        (table, json.dumps(item, sort_keys=True))
        for table, some in items_of_tables().items()
        if table != "audit"
        for item in some
    ]
    said = [
        (table, _PASSING.sub("", _SEALED.sub("", named.sub(lambda found: names[found[0]], item))))
        for table, item in items
        if not _OF_REQUESTS.search(item)
    ]
    return json.dumps(sorted(said))


def _move(address: str, to: str) -> None:
    """Have what is stored name a provider where it is now."""
    for table, items in items_of_tables().items():
        for item in items:
            text = json.dumps(item)
            if address in text:
                done("PutItem", {"TableName": table, "Item": json.loads(text.replace(address, to))})
