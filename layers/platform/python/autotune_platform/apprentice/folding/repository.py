"""Where evidence, pairs and counts are stored."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import uuid4

from autotune_platform.apprentice.configuration.items import TASK, unchanged
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.items import (
    EXAMPLES_COUNTED,
    counts_key,
    grown,
    stored_count,
)
from autotune_platform.apprentice.examples.models import Selection
from autotune_platform.apprentice.folding.items import (
    DAY,
    DUE_RUNS_INDEX,
    EVIDENCE,
    PAID_COUNTED,
    REFOLD,
    VERSION,
    day_key,
    entry_key,
    evidence_key,
    pair_key,
    pairs_of,
)
from autotune_platform.apprentice.folding.models import DayCounts, StoredEvidence, StoredPair
from autotune_platform.apprentice.folding.pointers import pointer_write
from autotune_platform.apprentice.folding.tallies import AGREEMENT_UNITS
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.runs.items import RUN, attributes_of, runs_of
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.savings import Costs
from autotune_platform.apprentice.versions.changes import CHANGE, VersionChange, change_write
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.storage.counting import Addition, Canceled, Check
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.due_index import OPEN_SHARD, DueIndex
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.table import Key, Table
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_addition, outbox_item

OPEN_SHARDS = 4
"""Over how many partitions of the index open entries are spread; it may be raised."""

SWEPT_AFTER = timedelta(minutes=5)
"""So long after an entry is due the sweep looks at it: a run is left to its worker until then, and
to whoever settles lost calls."""

_ERASED_AT_ONCE = 500
_NOT_LISTED = {"input", "local_output", "shadow_output"}
_STANDING = ("state", "check", "additional_counted")
_LAST_OF_TASK = "version#~"
"""Behind all that ``about`` reads: evidence, examples and versions, in the order of their keys."""


@dataclass(frozen=True)
class OpenEntry:
    """What somebody is to look at.

    It is a run in the list of its day, a task that is being deleted, or a version whose pairs are
    folded anew.

    Attributes:
        run_id: of the run; None where it is something else.
    """

    key: Key
    run_id: str | None

    @property
    def is_refold(self) -> bool:
        """Whether pairs are folded anew."""
        return self.key[1].startswith(REFOLD)


class EvidenceRepository:
    """Evidence, pairs, counts and lists of runs, in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def about(self, task_id: str) -> list[Item]:
        """Return evidence, numbers of examples and versions of a task, in one query."""
        return list(self._table.items(task_id, between=("sk", EVIDENCE, _LAST_OF_TASK)))

    def find(self, task_id: str, versions: Iterable[int]) -> dict[int, StoredEvidence]:
        """Return what is stored of versions, by number."""
        items = self._table.get_many((task_id, evidence_key(number)) for number in versions)
        found = [StoredEvidence.model_validate(item) for item in items.values()]
        return {one.version: one for one in found}

    def all_of(self, task_id: str) -> list[StoredEvidence]:
        """Return what is stored of a task's versions, by number."""
        items = self._table.items(task_id, starting=EVIDENCE)
        return [StoredEvidence.model_validate(item) for item in items]

    def version_items(self, task_id: str) -> list[Item]:
        """Return the items of a task's versions, in their order."""
        return list(self._table.items(task_id, starting=VERSION))

    def has_version(self, task_id: str, number: int) -> bool:
        """Return whether a task has a version of this number."""
        return self._table.get(task_id, f"{VERSION}{number:06d}") is not None

    def entries(self, runs: Sequence[Run]) -> dict[str, Item]:
        """Return what was counted of runs, by their ids; those of which nothing was are left out.

        Each is read anew, and consistently.
        """
        keys = {run.id: _entry(run) for run in runs}
        found = self._table.get_many(keys.values())
        return {run_id: found[key] for run_id, key in keys.items() if key in found}

    def write(self, writes: Sequence[Addition | Check]) -> Canceled | None:
        """Do all writes or none; return why nothing was written, None where all was."""
        return self._table.write_together(writes, token=uuid4().hex)

    def kept(self, task: ApprenticeTask) -> Check:
        """Return the check that a task is kept, and that its rules are as they were."""
        return unchanged(self._table.name, task)

    def entry(self, run: Run, *, before: Mapping[str, object], counted: Item) -> Addition:
        """Return what lists a run, and says what was counted of it.

        Args:
            before: its entry as it was read; empty where there was none.
            counted: what is counted of it from now on.
        """
        pk, sk = _entry(run)
        attributes = {
            name: value for name, value in attributes_of(run).items() if name not in _NOT_LISTED
        }
        # What is counted takes the place of the run's own attributes of these names.
        changes = {**attributes, "pairs_counted": counted["pairs"], **_of_example(counted)}
        is_open = not run.has_ended or run.check == "due"
        if is_open:
            changes |= DueIndex.opened_in(run.id, run.deadline_at, shards=OPEN_SHARDS)
        gone = () if is_open else (OPEN_SHARD, "due_at")
        return Addition(
            table=self._table.name,
            pk=pk,
            sk=sk,
            changes=changes,
            remove=gone,
            only_if={name: before.get(name) for name in _STANDING},  # type: ignore[misc]
        )

    def pair(self, task: ApprenticeTask, version: int, pair: Pair, run_id: str) -> Addition:
        """Return what stores a pair at its place."""
        return Addition(
            table=self._table.name,
            pk=pairs_of(task.id, version),
            sk=pair_key(pair.sequence),
            changes={
                "task_id": task.id,
                "organization_id": task.organization_id,
                "version": version,
                "sequence": pair.sequence,
                "run_id": run_id,
                "score": pair.score,
                "is_drawn": pair.is_drawn,
                "at": pair.at,
                **({} if pair.is_sure else {"is_sure": False}),
                **({"in_canary": True} if pair.in_canary else {}),
            },
            only_if={"sequence": None},
        )

    def evidence(self, after: StoredEvidence, *, revision: int) -> Addition:
        """Return what stores evidence, if it is as it was read.

        Args:
            after: what is stored.
            revision: what was read; 0 where nothing was.
        """
        return Addition(
            table=self._table.name,
            pk=after.task_id,
            sk=evidence_key(after.version),
            changes=after.model_dump(mode="json", exclude_none=True),
            remove=() if after.told_promotion is not None else ("told_promotion",),
            only_if={"revision": revision or None},
        )

    def version(self, before: ModelVersion, after: ModelVersion) -> Addition | Check:
        """Return what requires a version to be as it was read, and promotes it if it is another."""
        return pointer_write(self._table.name, before, after)

    def counts(
        self,
        task: ApprenticeTask,
        day: str,
        numbers: Mapping[str, int],
        *,
        bounds: Mapping[int, float],
    ) -> Addition:
        """Return what adds to the counts of a day.

        Args:
            bounds: of versions' agreement, as they are known now.
        """
        known = {
            f"bound#{number}": int(bound * AGREEMENT_UNITS) for number, bound in bounds.items()
        }
        return Addition(
            table=self._table.name,
            pk=task.id,
            sk=day_key(day),
            numbers=numbers,
            changes={"organization_id": task.organization_id, **known},
        )

    def examples(
        self, task: ApprenticeTask, definition_hash: str, by: Costs, stored: Mapping[Selection, int]
    ) -> Addition:
        """Return what adds to the number of a definition's examples, and to what they cost.

        Args:
            stored: how many there are more of each selection.
        """
        counted = {stored_count(selection): count for selection, count in stored.items()}
        paid = {PAID_COUNTED: by.count, "cost": by.total, "squares": by.squares}
        return Addition(
            table=self._table.name,
            pk=task.id,
            sk=counts_key(definition_hash),
            numbers={EXAMPLES_COUNTED: by.count, **paid, **counted},
            changes=grown(task),
        )

    def event(self, task: ApprenticeTask, event: Event) -> Addition:
        """Return what has an event published."""
        return outbox_addition(event, table=self._table.name, pk=task.id)

    def change(self, change: VersionChange) -> Addition:
        """Return what keeps what was done to a version."""
        return change_write(self._table.name, change)

    def publish(self, task_id: str, event: Event) -> None:
        """Have an event published by itself; the same again changes nothing."""
        self._table.put_new(outbox_item(event, pk=task_id))

    def pairs(self, task_id: str, version: int, *, after: int = 0) -> Iterator[Pair]:
        """Yield a version's pairs behind a sequence number, in their order."""
        behind = ("sk", pair_key(after + 1), pair_key(10**10 - 1))
        for item in self._table.items(pairs_of(task_id, version), between=behind):
            yield _pair(item)

    def latest_pairs(self, task_id: str, version: int, *, through: int) -> Iterator[list[Pair]]:
        """Yield pages of a version's pairs up to a sequence number, newest first."""
        until = ("sk", pair_key(1), pair_key(through))
        for page in self._table.pages(
            pairs_of(task_id, version), between=until, newest_first=True, limit=1_000
        ):
            yield [_pair(item) for item in page.items]

    def page_of_pairs(
        self, task_id: str, version: int, *, limit: int, next_token: str | None
    ) -> tuple[list[StoredPair], str | None]:
        """Return a page of a version's pairs, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        pk = pairs_of(task_id, version)
        after = None
        if next_token is not None:
            of_version, last = decode_cursor(next_token, parts=2)
            is_place = last.isascii() and last.isdecimal() and len(last) == len(pair_key(0))
            if of_version != str(version) or not is_place:
                raise invalid_cursor()
            after = {"pk": pk, "sk": last}
        page = self._table.query(pk, newest_first=True, limit=limit, after=after)
        token = encode_cursor(str(version), page.last_key["sk"]) if page.last_key else None
        return [StoredPair.model_validate(item) for item in page.items], token

    def days(self, task_id: str, first: str, last: str) -> list[DayCounts]:
        """Return the counts of those days from ``first`` to ``last`` that have any, in order."""
        items = self._table.items(task_id, between=("sk", day_key(first), day_key(last)))
        return [DayCounts.from_item(item["sk"].removeprefix(DAY), item) for item in items]

    def examples_of(self, task_id: str, definition_hash: str) -> int:
        """Return how many examples there are of a definition."""
        item = self._table.get(task_id, counts_key(definition_hash)) or {}
        return int(item.get(EXAMPLES_COUNTED, 0))

    def due(self, before: datetime, *, limit: int) -> Iterator[OpenEntry]:
        """Yield what is due, of each shard in the order of its times.

        Args:
            limit: most of a shard.
        """
        for shard in range(OPEN_SHARDS):
            found = self._table.items(
                f"open#{shard}",
                partition_name=OPEN_SHARD,
                index=DUE_RUNS_INDEX,
                below=("due_at", moment(before)),
            )
            for item in islice(found, limit):
                is_other = item["sk"].startswith((TASK, REFOLD))
                run_id = None if is_other else item["sk"].rpartition("#")[2]
                yield OpenEntry((item["pk"], item["sk"]), run_id)

    def open_until(self, entry: OpenEntry, at: datetime) -> None:
        """Have an open entry looked at again at a time."""
        self._table.update(*entry.key, {"due_at": moment(at)}, having=OPEN_SHARD)

    def close(self, entry: OpenEntry) -> None:
        """Have an entry looked at no more."""
        self._table.update(*entry.key, {}, remove=(OPEN_SHARD, "due_at"), having=OPEN_SHARD)

    def forget(self, runs: Iterable[Run]) -> None:
        """Delete runs whose task is gone: nothing would lead to them any more.

        Raises:
            UnavailableError: the table kept some.
        """
        self._table.delete_many((run.id, RUN) for run in runs)

    def erase(self, task_id: str, *, has_time: Callable[[], bool] = lambda: True) -> bool:
        """Erase all that is kept of a task but its configurations; a repeat goes on with it.

        Args:
            has_time: whether there is time for some hundreds of items more.

        Returns:
            Whether nothing is left.

        Raises:
            UnavailableError: the table kept something.
        """
        about = self.about(task_id)
        for item in about:
            if item["sk"].startswith(EVIDENCE):
                pairs = pairs_of(task_id, item["version"])
                if not self._erase_entries(pairs, has_time, with_runs=False):
                    return False
        for day in self._table.items(task_id, starting=DAY, attributes=("pk", "sk")):
            runs = runs_of(task_id, day["sk"].removeprefix(DAY))
            if not self._erase_entries(runs, has_time, with_runs=True):
                return False
            self._table.delete(day["pk"], day["sk"])
        changes = self._table.items(task_id, starting=CHANGE, attributes=("pk", "sk"))
        self._table.delete_many((item["pk"], item["sk"]) for item in [*changes, *about])
        return True

    def _erase_entries(
        self, partition: str, has_time: Callable[[], bool], *, with_runs: bool
    ) -> bool:
        """Erase a partition, each run before what leads to it; return False where time was over.

        A role may not erase both in one request.
        """
        attributes = ("pk", "sk", "id") if with_runs else ("pk", "sk")
        for page in self._table.pages(partition, attributes=attributes, limit=_ERASED_AT_ONCE):
            if not has_time():
                return False
            if with_runs:
                self._table.delete_many((entry["id"], RUN) for entry in page.items)
            self._table.delete_many((entry["pk"], entry["sk"]) for entry in page.items)
        return True


def _of_example(counted: Item) -> Item:
    return {
        "example_counted": counted["example"],
        "cost_counted": counted["cost_nano_usd"],
        **({"additional_counted": more} if (more := counted["additional_cost"]) else {}),
    }


def _entry(run: Run) -> Key:
    return runs_of(run.task_id, run.day), entry_key(run)


def _pair(item: Mapping[str, object]) -> Pair:
    return Pair(
        sequence=item["sequence"],  # type: ignore[arg-type]
        score=item["score"],  # type: ignore[arg-type]
        is_drawn=item["is_drawn"],  # type: ignore[arg-type]
        at=item["at"],  # type: ignore[arg-type]
        is_sure=item.get("is_sure", True),  # type: ignore[arg-type]
        in_canary=item.get("in_canary", False),  # type: ignore[arg-type]
    )
