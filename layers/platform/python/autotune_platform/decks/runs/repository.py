"""Where runs are stored: under their deck, with their plans and chunks beside them.

A run is in the collection of open ones until it ends, where the sweeper finds it. It has its
graders' versions to itself, so that two runs never pay for the same judgement, and it is one of the
few that an organisation may have at a time. All of it is given back in the write that ends it.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_OPEN_DECK_RUNS
from autotune.protocol.problems import LimitProblem
from autotune_platform.decks.figures import spent
from autotune_platform.decks.items import COUNTS, decks_of, item_of, model_from, number
from autotune_platform.decks.runs.events import run_completed
from autotune_platform.decks.runs.models import KEPT, Chunk, Run
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.errors import (
    ConflictError,
    NotFoundError,
    TooManyEntitiesError,
)
from autotune_platform.runtime.grouping import groups
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import (
    ANYTHING,
    Add,
    Condition,
    Delete,
    Put,
    Write,
)
from autotune_platform.webhooks.outbox import outbox_put

RUN, PLAN, CHUNK, KEY = "run#", "plan#", "chunk#", "runkey#"
PROPOSAL = "proposal"
OPEN = "open#"
OPEN_RUNS = "openDeckRuns"
_BY_COLLECTION = "byCollection"
_OPEN_COUNT = "open_runs"
_PLANNED_TOGETHER = 1_000
_NEW = Condition(exists=False)


class RunRepository:
    """Runs in the ``decks`` table; all changes are conditional on what was read."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def known(self, deck_id: str, idempotency_key: str) -> str | None:
        """Return the id of the run that was started with an idempotency key."""
        item = self._table.get(deck_id, _claim(idempotency_key))
        return item["run_id"] if item else None

    def add(self, run: Run, sample_ids: Sequence[str], *, idempotency_key: str | None) -> bool:
        """Store a new run; return False where its idempotency key came in the meantime.

        Raises:
            ConflictError: one of its graders' versions is at work in another run, or the deck was
                deleted.
            TooManyEntitiesError: the organisation has as many runs under way as it may.
            UnavailableError: the table is busy.
        """
        self._table.put_many(_plan(run, sample_ids))
        claims: list[Write] = []
        if idempotency_key is not None:
            item = {"pk": run.deck_id, "sk": _claim(idempotency_key), "run_id": run.id}
            claimed = {**item, "organization_id": run.organization_id, **expiry(run)}
            claims.append(Put(item=claimed, condition=_NEW))
        counted = Add(
            pk=decks_of(run.organization_id),
            sk=COUNTS,
            name=_OPEN_COUNT,
            by=1,
            below=MAX_OPEN_DECK_RUNS,
        )
        of_deck = Add(pk=run.deck_id, sk=COUNTS, name="runs", by=1, only_existing=True)
        writes = [
            Put(item=_item(run), condition=_NEW),
            counted,
            of_deck,
            *claims,
            *(Put(item=one, condition=_NEW) for one in _locks(run)),
        ]
        refused = self._table.transact(writes)
        if not refused:
            return True
        if claims and 3 in refused:
            return False
        if 2 in refused:
            raise ConflictError(f"deck {run.deck_id} was deleted")
        if 1 in refused:
            raise TooManyEntitiesError(
                f"{MAX_OPEN_DECK_RUNS} runs are under way; wait for one to end, or cancel one",
                limit=LimitProblem(name="open runs", maximum=MAX_OPEN_DECK_RUNS, unit="runs"),
                retry_after_seconds=60,
            )
        raise self._occupied(run)

    def _occupied(self, run: Run) -> ConflictError:
        for lock in _locks(run):
            item = self._table.get(lock["pk"], lock["sk"])
            if item is not None:
                return ConflictError(
                    f"version {item['version']} of grader {item['pk']} is at work in run "
                    f"{item['run_id']}; wait for its end, or cancel it"
                )
        return ConflictError("another run has just ended; try again")

    def get(self, deck_id: str, run_id: str) -> Run | None:
        """Return a run of a deck; None where there is none."""
        item = self._table.get(deck_id, RUN + run_id) if is_id("drn", run_id) else None
        return model_from(item, Run) if item else None

    def require(self, deck_id: str, run_id: str) -> Run:
        """Return a run of a deck.

        Raises:
            NotFoundError: there is none.
        """
        run = self.get(deck_id, run_id)
        if run is None:
            raise NotFoundError(f"no run {run_id} of deck {deck_id}")
        return run

    def page(
        self, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Run], str | None]:
        """Return a page of a deck's runs, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        after = None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not is_id("drn", last):
                raise invalid_cursor()
            after = {"pk": deck_id, "sk": RUN + last}
        page = self._table.query(deck_id, starting=RUN, newest_first=True, limit=limit, after=after)
        token = encode_cursor(page.last_key["sk"].removeprefix(RUN)) if page.last_key else None
        return [model_from(item, Run) for item in page.items], token

    def open_runs(self) -> Iterator[Run]:
        """Yield the open runs of every organisation; of the last second it may miss some."""
        items = self._table.items(OPEN_RUNS, partition_name="collection", index=_BY_COLLECTION)
        return (model_from(item, Run) for item in items)

    def change(self, before: Run, after: Run, others: Iterable[Write] = ()) -> bool:
        """Store a changed run together with other items; False where it is not as it was read.

        The write that ends a run frees its graders' versions and its place, adds its cost to the
        deck's, and stores its event.
        """
        as_read = Condition(only_if={"revision": before.revision})
        writes: list[Write] = [Put(item=_item(after), condition=as_read), *others]
        if before.is_open and not after.is_open:
            writes += [
                Add(pk=decks_of(after.organization_id), sk=COUNTS, name=_OPEN_COUNT, by=-1),
                spent(after.organization_id, after.deck_id, after.spent),
                outbox_put(run_completed(after), pk=after.deck_id),
                *(Delete(pk=one["pk"], sk=one["sk"], condition=ANYTHING) for one in _locks(after)),
            ]
        return not self._table.transact(writes)

    def planned(self, run: Run, first: int, number_of: int) -> list[str]:
        """Return ids of samples of a run, from one on, in the order in which they are judged."""
        last = min(first + number_of, run.samples)
        of_items = range(first // _PLANNED_TOGETHER, (last - 1) // _PLANNED_TOGETHER + 1)
        found = self._table.get_many((run.id, _plan_key(place)) for place in of_items)
        ids = [
            id_
            for place in of_items
            for id_ in json.loads(zlib.decompress(found[run.id, _plan_key(place)]["ids"]))
        ]
        start = first - of_items.start * _PLANNED_TOGETHER
        return ids[start : start + last - first]

    def chunks(self, run: Run) -> list[Chunk]:
        """Return a run's chunks that have something left to do, the oldest first."""
        return [model_from(item, Chunk) for item in self._table.items(run.id, starting=CHUNK)]

    @staticmethod
    def added(run: Run, chunk: Chunk) -> Write:
        """Return what stores a new chunk of a run, to be written with the run."""
        return Put(item=_chunk_item(run, chunk), condition=_NEW)

    @staticmethod
    def changed(run: Run, before: Chunk, after: Chunk) -> Write:
        """Return what stores a changed chunk, or deletes it where nothing is left of it."""
        as_read = Condition(only_if={"revision": before.revision})
        if not (after.left or after.erasing):
            return Delete(pk=run.id, sk=_chunk_key(before), condition=as_read)
        return Put(item=_chunk_item(run, after), condition=as_read)

    def change_chunk(self, run: Run, before: Chunk, after: Chunk) -> bool:
        """Store a changed chunk alone; return False where it is not as it was read."""
        return not self._table.transact([self.changed(run, before, after)])

    def forget(self, run: Run) -> None:
        """Delete the plan of a run that has ended; deleting it again changes nothing."""
        if run.kind == "propose":
            self._table.delete(run.id, PROPOSAL)
        for place in range((run.samples - 1) // _PLANNED_TOGETHER + 1):
            self._table.delete(run.id, _plan_key(place))


def is_open_run(item: Item) -> bool:
    """Return whether an item of a deck is a run that has not ended."""
    return item["sk"].startswith(RUN) and item.get("collection") == OPEN_RUNS


def packed_rows(rows: Iterable[Row]) -> bytes:
    """Return rows as a chunk has them that is to be enqueued."""
    documents = [row.model_dump(mode="json", exclude_defaults=True) for row in rows]
    return zlib.compress(json.dumps(documents, separators=(",", ":")).encode())


def unpacked_rows(packed: bytes) -> list[Row]:
    """Return the rows that a chunk has."""
    return [Row.model_validate(one) for one in json.loads(zlib.decompress(packed))]


def _item(run: Run) -> Item:
    listed: dict[str, Any] = {"collection": OPEN_RUNS} if run.is_open else {}
    return {**item_of(run, pk=run.deck_id, sk=RUN + run.id), **listed}


def _locks(run: Run) -> list[Item]:
    """Return the items by which a run has its graders' versions to itself."""
    if run.repeat or run.kind == "generate":
        return []  # what is judged again is paid for each time; an edit names its run itself
    return [
        {
            "pk": one.grader_id,
            "sk": OPEN + number(one.version),
            "organization_id": run.organization_id,
            "run_id": run.id,
            "version": one.version,
        }
        for one in run.graders
    ]


def _plan(run: Run, sample_ids: Sequence[str]) -> Iterator[Item]:
    for place, some in enumerate(groups(sample_ids, _PLANNED_TOGETHER)):
        yield {
            "pk": run.id,
            "sk": _plan_key(place),
            "organization_id": run.organization_id,
            "ids": zlib.compress(json.dumps(list(some), separators=(",", ":")).encode()),
            **expiry(run),
        }


def _chunk_item(run: Run, chunk: Chunk) -> Item:
    attributes = chunk.model_dump(mode="json", exclude={"rows"}, exclude_none=True)
    return {
        **attributes,
        **({} if chunk.rows is None else {"rows": chunk.rows}),
        "pk": run.id,
        "sk": _chunk_key(chunk),
        "organization_id": run.organization_id,
        **expiry(run),
    }


def _chunk_key(chunk: Chunk) -> str:
    return CHUNK + number(chunk.number)


def _plan_key(place: int) -> str:
    return PLAN + number(place)


def _claim(idempotency_key: str) -> str:
    return KEY + hashlib.sha256(idempotency_key.encode()).hexdigest()


def expiry(run: Run) -> dict[str, int]:
    """Return when what lies beside a run goes by itself."""
    return {"expires_at": int((run.created_at + KEPT).timestamp())}
