"""Where hostings are stored: ``pk=apt_…#hosting, sk=host#<name>``, open until they are forgotten.

``sk=cost#2026-11-27`` is what a task's instances cost on a UTC day (``hosting.accounts``).
Three write a hosting: the sweeper, each time on condition that it is as it was read; whoever asks a
model, who notes minutes and nothing else; and whoever deletes its task.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from pydantic import ValidationError

from autotune_platform.apprentice.configuration.items import model_from
from autotune_platform.apprentice.folding.items import DUE_RUNS_INDEX
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.storage.counting import Addition, Removal
from autotune_platform.storage.due_index import OPEN_SHARD, due_of
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Table

HOSTING_SECONDS, UNPRICED_SECONDS = "hosting_seconds", "hosting_unpriced_seconds"
COST_HOSTING = "cost_hosting"
OPEN_HOSTINGS = "hostings"
"""The partition of the index that has all hostings: there are as many as models are served."""
_HOST = "host#"
_COST = "cost#"
_NOTED = ("called_at", "wanted_at", "unwanted_at")
_MAY_GO = ("counted_until", "silent_since", "unasked_since", "error", "refusal", "lacking")
"""What a look may take back."""


class HostingDay(NamedTuple):
    """The account of a task's day; ``unpriced_seconds`` have a price that is not known."""

    seconds: int = 0
    unpriced_seconds: int = 0
    nano_usd: int = 0


class HostingCost(NamedTuple):
    """What an instance of a task cost on a day.

    Attributes:
        seconds: for how long it was there.
        nano_usd: None where its price is not known.
    """

    organization_id: str
    task_id: str
    day: str
    seconds: int
    nano_usd: int | None

    @property
    def numbers(self) -> dict[str, int]:
        """What is added to the day's account."""
        if self.nano_usd is None:
            return {HOSTING_SECONDS: self.seconds, UNPRICED_SECONDS: self.seconds}
        return {HOSTING_SECONDS: self.seconds, COST_HOSTING: self.nano_usd}


class Adapters(NamedTuple):
    """What a base has.

    Attributes:
        known: its adapters, those too that are gone.
        unread: how many more there are that cannot be read.
    """

    known: Sequence[Hosting]
    unread: int


def hostings_of(task_id: str) -> str:
    """Return the partition of a task's hostings."""
    return f"{task_id}#hosting"


class HostingRepository:
    """Hostings in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, task_id: str, name: str) -> Hosting | None:
        """Return a hosting."""
        item = self._table.get(hostings_of(task_id), _HOST + name)
        return model_from(item, Hosting) if item else None

    def of_task(self, task_id: str) -> list[Hosting]:
        """Return all hostings of a task that can be read.

        One that cannot be fails its own looks alone: those of the others go on.
        """
        return [one for one in map(_readable, self._items_of(task_id)) if one is not None]

    def adapters_of(self, base: Hosting) -> "Adapters":
        """Return what a base has; an adapter that cannot be read may be there, for all we know."""
        items = [one for one in self._items_of(base.task_id) if one.get("base") == base.name]
        known = [one for one in map(_readable, items) if one is not None]
        return Adapters(known, len(items) - len(known))

    def add(self, hosting: Hosting) -> bool:
        """Store a hosting; return False where there is one of that name."""
        return self._table.put_new(_item_of(hosting))

    def change(self, before: Hosting, after: Hosting, *accounts: Addition) -> bool:
        """Store what the sweeper found; return False where somebody wrote meanwhile.

        So a hosting that was called is not scaled to zero, and a call for one is not overlooked.

        Args:
            before: as it was read.
            after: as it is from now on.
            accounts: what is written in the same transaction.
        """
        changes = {
            name: value
            for name, value in _item_of(after).items()
            if name not in {"pk", "sk", OPEN_SHARD, *_NOTED}
        }
        as_it_was = {
            "revision": before.revision,
            **{name: _item_of(before).get(name) for name in _NOTED},
        }
        changes["revision"] = before.revision + 1
        gone = tuple(name for name in _MAY_GO if getattr(after, name) is None)
        key = (hostings_of(before.task_id), _HOST + before.name)
        if not accounts:
            changed = self._table.update(*key, changes, remove=gone, only_if=as_it_was)
            return changed is not None
        stored = self._addition(before, changes=changes, remove=gone, only_if=as_it_was)
        return self._together(stored, *accounts)

    def join(self, before: Hosting | None, adapter: Hosting, base: Hosting | None) -> bool:
        """Store that an adapter has a base; return False where somebody wrote either meanwhile.

        A look at the base that saw it without the adapter stores nothing any more: so a base is not
        taken down that has just got one, and no adapter gets one that is being taken down.

        Args:
            before: the adapter as it was read; None where there is none yet.
            adapter: as it is from now on.
            base: as it was read; None where there is none yet.
        """
        seen = () if base is None else (self._seen(base),)
        if before is not None:
            return self.change(before, adapter, *seen)
        if not seen:
            return self.add(adapter)
        return self._together(self._added(adapter), *seen)

    def restore(self, base: Hosting) -> bool:
        """Store a base of which nothing is stored; return False where there is something by now."""
        return self._together(self._added(base))

    def _added(self, hosting: Hosting) -> Addition:
        changes = {name: one for name, one in _item_of(hosting).items() if name not in {"pk", "sk"}}
        return self._addition(hosting, changes=changes, only_if={"name": None})

    def _seen(self, base: Hosting) -> Addition:
        """Return a write by which whoever read a base before has read it too early."""
        changes = {"revision": base.revision + 1}
        return self._addition(base, changes=changes, only_if={"revision": base.revision})

    def _addition(self, of: Hosting, **written: Any) -> Addition:
        pk, sk = hostings_of(of.task_id), _HOST + of.name
        return Addition(table=self._table.name, pk=pk, sk=sk, **written)

    def _together(self, *writes: Addition) -> bool:
        return self._table.write_together(writes, token=uuid4().hex) is None

    def cost(self, of: HostingCost) -> Addition:
        """Return what adds to the account of a task's day, as a part of a transaction."""
        return Addition(
            table=self._table.name,
            pk=hostings_of(of.task_id),
            sk=_COST + of.day,
            numbers=of.numbers,
            changes={"organization_id": of.organization_id},
        )

    def costs(self, task_id: str, first: str, last: str) -> dict[str, HostingDay]:
        """Return the accounts of those days from ``first`` to ``last`` that have any."""
        items = self._table.items(hostings_of(task_id), between=("sk", _COST + first, _COST + last))
        return {
            item["sk"].removeprefix(_COST): HostingDay(
                item.get(HOSTING_SECONDS, 0),
                item.get(UNPRICED_SECONDS, 0),
                item.get(COST_HOSTING, 0),
            )
            for item in items
        }

    def erase_costs(self, task_id: str) -> None:
        """Delete the accounts of a task.

        Raises:
            UnavailableError: the table kept some.
        """
        items = self._table.items(hostings_of(task_id), starting=_COST, attributes=("pk", "sk"))
        for item in items:
            self._table.delete(item["pk"], item["sk"])

    def note_call(self, task_id: str, name: str, at: datetime, *, idle_minutes: int) -> bool:
        """Note that a hosting answered; of each minute the first note is written."""
        noted = {"called_at": _minute(at), "idle_minutes": idle_minutes}
        return self._note(task_id, name, noted, rising="called_at")

    def want(self, task_id: str, name: str, at: datetime, *, idle_minutes: int) -> bool:
        """Note that a hosting did not answer, and have the sweeper look at it; once a minute."""
        noted = {
            "wanted_at": _minute(at),
            "idle_minutes": idle_minutes,
            "due_at": moment(at),
        }
        return self._note(task_id, name, noted, rising="wanted_at")

    def end(self, task_id: str, at: datetime) -> None:
        """Have the sweeper take down all that a task has, beginning with its next look."""
        noted = {"unwanted_at": moment(at), "due_at": moment(at)}
        for item in self._items_of(task_id):
            if "unwanted_at" not in item:
                self._table.update(item["pk"], item["sk"], noted, having=OPEN_SHARD)

    def due(self, before: datetime, *, limit: int) -> Iterator[Item]:
        """Yield items of hostings that are to be looked at, the longest due first; see ``read``."""
        yield from due_of(self._table, OPEN_HOSTINGS, before, index=DUE_RUNS_INDEX, limit=limit)

    @staticmethod
    def read(item: Item) -> Hosting:
        """Return the hosting that an item stores; one that cannot be read holds up no other."""
        return model_from(item, Hosting)

    def forget(self, hosting: Hosting) -> bool:
        """Delete a hosting of which nothing is left; return False where somebody wrote meanwhile.

        One that was made again by then has an instance, which nobody would ever take down.
        """
        removed = Removal(
            table=self._table.name,
            pk=hostings_of(hosting.task_id),
            sk=_HOST + hosting.name,
            only_if={"revision": hosting.revision},
        )
        return self._table.write_together((removed,), token=uuid4().hex) is None

    def put_off(self, item: Item, at: datetime) -> None:
        """Have an item that was not looked at be looked at later, unless somebody wrote when."""
        changes, as_it_was = {"due_at": moment(at)}, {"due_at": item["due_at"]}
        self._table.update(item["pk"], item["sk"], changes, only_if=as_it_was, having=OPEN_SHARD)

    def _items_of(self, task_id: str) -> Iterator[Item]:
        return self._table.items(hostings_of(task_id), starting=_HOST)

    def _note(self, task_id: str, name: str, noted: Item, *, rising: str) -> bool:
        key = (hostings_of(task_id), _HOST + name)
        return self._table.update(*key, noted, rising=rising, having=OPEN_SHARD) is not None


def _readable(item: Item) -> Hosting | None:
    try:
        return model_from(item, Hosting)
    except ValidationError:
        return None  # whoever looks at it raises this, each time


def _item_of(hosting: Hosting) -> Item:
    item: Item = {
        "pk": hostings_of(hosting.task_id),
        "sk": _HOST + hosting.name,
        OPEN_SHARD: OPEN_HOSTINGS,
        **hosting.model_dump(mode="json", exclude_none=True),
        "due_at": moment(hosting.due_at),
    }
    for name in _NOTED:
        noted: datetime | None = getattr(hosting, name)
        if noted is not None:
            item[name] = moment(noted)
    return item


def _minute(at: datetime) -> str:
    return moment(at - timedelta(seconds=at.second, microseconds=at.microsecond))
