"""Where examples are stored."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_IMPORTED_EXAMPLES
from autotune.protocol.problems import LimitProblem
from autotune_platform.apprentice.configuration.items import unchanged
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.items import (
    COUNTED,
    DATA,
    EXAMPLES_COUNTED,
    SHARDS,
    attributes_of,
    counts_key,
    example_from,
    example_key,
    examples_of,
    grown,
    shard_of,
    stored_count,
    texts_key,
)
from autotune_platform.apprentice.examples.models import Example, ExampleTexts, Selection
from autotune_platform.runtime.errors import TooManyEntitiesError, UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition, Check, Removal
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.packing import pack, unpack
from autotune_platform.storage.table import Table

_ATTEMPTS = 8
# Two items an example, the count, and the task; a transaction has a hundred items, and 4 MB.
_IMPORTED_AT_ONCE = 45
_BYTES_AT_ONCE = 2_000_000
_ERASED_AT_ONCE = 500
_SELECTIONS: tuple[Selection, ...] = ("phase1", "random", "escalated", "imported")


@dataclass(frozen=True)
class Imported:
    """An example that somebody brought, with its texts."""

    example: Example
    texts: ExampleTexts

    @property
    def packed(self) -> bytes:
        """Its texts as they are stored."""
        return pack([self.texts.input, self.texts.output])


@dataclass(frozen=True)
class ExampleCounts:
    """How many examples a definition has, by selection."""

    by_selection: Mapping[Selection, int]

    @property
    def all(self) -> int:
        """All of them."""
        return sum(self.by_selection.values())


class ExampleRepository:
    """Examples in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def addition(self, example: Example) -> Addition:
        """Return what stores an example, whose count is to be written with it."""
        pk, sk = example_key(example.task_id, example.definition_hash, example.id)
        return Addition(table=self._table.name, pk=pk, sk=sk, changes=attributes_of(example))

    def add_imported(self, task: ApprenticeTask, brought: Sequence[Imported]) -> int:
        """Store what was brought, but what is there already; return how many were new.

        A repeat stores the rest of one that was cut off.

        Raises:
            TooManyEntitiesError: the definition has as many imported ones as it may.
            UnavailableError: the table is busy, or the task is being changed.
        """
        each = {one.example.id: one for one in brought}
        return sum(self._add_some(task, some) for some in _portions(list(each.values())))

    def _add_some(self, task: ApprenticeTask, some: Sequence[Imported]) -> int:
        left = list(some)
        for _ in BUSY.attempts(_ATTEMPTS):
            writes: list[Addition | Check] = [
                unchanged(self._table.name, task),
                self._count(task, len(left)),
            ]
            for one in left:
                writes += [self._new(one), self._texts(task, one)]
            canceled = self._table.write_together(writes, token=uuid4().hex)
            if canceled is None:
                return len(left)
            if 0 in canceled.refused:
                raise UnavailableError("the task is being changed", retry_after_seconds=1)
            there = {place // 2 - 1 for place in canceled.refused if place > 1}
            left = [one for place, one in enumerate(left) if place not in there]
            if not left:
                return 0
            if 1 in canceled.refused and not there:
                raise _too_many(task.name)
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def find(self, task_id: str, definitions: Iterable[str], example_id: str) -> Example | None:
        """Return an example of one of some definitions by its id."""
        keys = [example_key(task_id, one, example_id) for one in definitions]
        found = self._table.get_many(keys)
        return next((example_from(item) for item in found.values()), None)

    def remove(self, example: Example) -> bool:
        """Remove an example, and the texts of an imported one; return False where it is gone.

        Raises:
            UnavailableError: the table is busy.
        """
        pk, sk = example_key(example.task_id, example.definition_hash, example.id)
        name = self._table.name
        less = {EXAMPLES_COUNTED: -1, stored_count(example.selection): -1}
        writes: list[Addition | Check | Removal] = [
            Removal(table=name, pk=pk, sk=sk, only_if={"id": example.id}),
            Addition(
                table=name,
                pk=example.task_id,
                sk=counts_key(example.definition_hash),
                numbers=less,
            ),
        ]
        if example.selection == "imported":
            texts_pk, texts_sk = texts_key(example.task_id, example.id)
            writes.append(Removal(table=name, pk=texts_pk, sk=texts_sk))
        for _ in BUSY.attempts(_ATTEMPTS):
            canceled = self._table.write_together(writes, token=uuid4().hex)
            if canceled is None:
                return True
            if 0 in canceled.refused:
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def page(
        self, task_id: str, definition_hash: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Example], str | None]:
        """Return a page of a definition's examples, in the order of partitions and ids.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        shard, behind = _place(next_token, definition_hash)
        found: list[Example] = []
        while shard < SHARDS and len(found) < limit:
            pk = examples_of(task_id, definition_hash, shard)
            after = None if behind is None else {"pk": pk, "sk": behind}
            page = self._table.query(pk, limit=limit - len(found), after=after)
            found += [example_from(item) for item in page.items]
            behind = page.last_key["sk"] if page.last_key else None
            shard += behind is None
        token = None
        if shard < SHARDS:
            token = token_behind(definition_hash, shard, behind)
        return found, token

    def all_of(self, task_id: str, definition_hash: str) -> Iterator[Example]:
        """Yield all examples of a definition, a page of them in memory at a time."""
        for shard in range(SHARDS):
            for item in self._table.items(examples_of(task_id, definition_hash, shard)):
                yield example_from(item)

    def texts_of(self, examples: Iterable[Example]) -> dict[str, ExampleTexts]:
        """Return the texts of imported examples, by id, without those that are gone."""
        keys = {texts_key(one.task_id, one.id): one.id for one in examples}
        found = {}
        for key, item in self._table.get_many(keys).items():
            value, output = unpack(item["body"])
            found[keys[key]] = ExampleTexts(value, output)
        return found

    def definitions(self, task_id: str) -> list[str]:
        """Return the hashes of a task's definitions that have, or had, examples."""
        counts = (EXAMPLES_COUNTED, *(stored_count(one) for one in _SELECTIONS))
        items = self._table.items(task_id, starting=COUNTED, attributes=("sk", *counts))
        # One whose task was configured alone has a number of 0, and no other.
        return [
            item["sk"].removeprefix(COUNTED)
            for item in items
            if item.get(EXAMPLES_COUNTED) or len(item) > len(("sk", EXAMPLES_COUNTED))
        ]

    def counts(self, task_id: str, definition_hash: str) -> ExampleCounts:
        """Return how many examples a definition has."""
        item = self._table.get(task_id, counts_key(definition_hash)) or {}
        return ExampleCounts({one: item.get(stored_count(one), 0) for one in _SELECTIONS})

    def erase(self, task_id: str, *, has_time: Callable[[], bool] = lambda: True) -> bool:
        """Erase a task's examples; counts stay, which lead here. A repeat goes on with it.

        Args:
            has_time: whether there is time for some hundreds of items more.

        Returns:
            Whether nothing is left.

        Raises:
            UnavailableError: the table kept some.
        """
        about = self._table.items(task_id, starting=DATA, attributes=("pk", "sk"))
        self._table.delete_many((item["pk"], item["sk"]) for item in about)
        for definition_hash in self.definitions(task_id):
            for shard in range(SHARDS):
                of_shard = examples_of(task_id, definition_hash, shard)
                names = ("pk", "sk", "selection")
                for page in self._table.pages(of_shard, attributes=names, limit=_ERASED_AT_ONCE):
                    if not has_time():
                        return False
                    imported = [one for one in page.items if one["selection"] == "imported"]
                    self._table.delete_many(texts_key(task_id, one["sk"]) for one in imported)
                    self._table.delete_many((one["pk"], one["sk"]) for one in page.items)
        return True

    def _new(self, one: Imported) -> Addition:
        example = one.example
        pk, sk = example_key(example.task_id, example.definition_hash, example.id)
        return Addition(
            table=self._table.name,
            pk=pk,
            sk=sk,
            changes=attributes_of(example),
            only_if={"id": None},
        )

    def _texts(self, task: ApprenticeTask, one: Imported) -> Addition:
        pk, sk = texts_key(task.id, one.example.id)
        changes = {"organization_id": task.organization_id, "body": one.packed}
        return Addition(table=self._table.name, pk=pk, sk=sk, changes=changes)

    def _count(self, task: ApprenticeTask, count: int) -> Addition:
        imported = stored_count("imported")
        return Addition(
            table=self._table.name,
            pk=task.id,
            sk=counts_key(task.definition_hash),
            numbers={EXAMPLES_COUNTED: count, imported: count},
            changes=grown(task),
            at_most={imported: MAX_IMPORTED_EXAMPLES - count},
        )


def token_behind(definition_hash: str, shard: int, example_id: str | None) -> str:
    """Return the token of the page behind an example, or of a partition from its beginning."""
    return encode_cursor(definition_hash, f"{shard:02x}", example_id or "")


def token_behind_example(example: Example) -> str:
    """Return the token of the page that begins behind an example."""
    return token_behind(example.definition_hash, shard_of(example.id), example.id)


def _place(next_token: str | None, definition_hash: str) -> tuple[int, str | None]:
    if next_token is None:
        return 0, None
    of_definition, shard, last = decode_cursor(next_token, parts=3)
    known = {f"{number:02x}": number for number in range(SHARDS)}
    is_example = not last or is_id("exm", last)
    if of_definition != definition_hash or shard not in known or not is_example:
        raise invalid_cursor()
    return known[shard], last or None


def _portions(brought: Sequence[Imported]) -> Iterator[list[Imported]]:
    some: list[Imported] = []
    size = 0
    for one in brought:
        own = len(one.packed)
        if some and (len(some) == _IMPORTED_AT_ONCE or size + own > _BYTES_AT_ONCE):
            yield some
            some, size = [], 0
        some.append(one)
        size += own
    if some:
        yield some


def _too_many(name: str) -> TooManyEntitiesError:
    most = MAX_IMPORTED_EXAMPLES
    return TooManyEntitiesError(
        f"task {name} may have {most} imported examples of a definition; delete some first",
        limit=LimitProblem(name="importedExamples", maximum=most, unit="examples", actual=most),
    )
