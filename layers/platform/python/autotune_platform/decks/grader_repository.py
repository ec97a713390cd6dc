"""Where the graders of decks are stored, with their versions."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_DECK_GRADERS
from autotune.protocol.problems import LimitProblem
from autotune_platform.decks.items import (
    COUNTS,
    DELETED_GRADERS,
    GONE,
    GRADER,
    RUBRIC,
    grader_key,
    item_of,
    model_from,
    rubric_key,
    rubrics_of,
)
from autotune_platform.decks.models import DeckGrader, DeletedGrader, GraderVersion, WholeGrader
from autotune_platform.decks.pages import version_page
from autotune_platform.runtime.errors import ConflictError, NotFoundError, TooManyEntitiesError
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import Add, Condition, Delete, Put, Write

_NEW = Condition(exists=False)
_COUNTED = "graders"


class DeckGraderRepository:
    """Graders and their versions in the ``decks`` table, in the partition of their deck."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, grader: DeckGrader, first: GraderVersion) -> None:
        """Store a new grader with its first version.

        Raises:
            TooManyEntitiesError: the deck has as many as it may.
            ConflictError: the deck was deleted.
            UnavailableError: the table is busy.
        """
        counted = Add(
            pk=grader.deck_id,
            sk=COUNTS,
            name=_COUNTED,
            by=1,
            below=MAX_DECK_GRADERS,
            only_existing=True,
        )
        refused = self._table.transact(
            [
                Put(item=_item(grader), condition=_NEW),
                Put(item=_version_item(first), condition=_NEW),
                counted,
            ]
        )
        if not refused:
            return
        if self._table.get(grader.deck_id, COUNTS) is None:
            raise ConflictError(f"deck {grader.deck_id} was deleted")
        raise TooManyEntitiesError(
            f"the deck has {MAX_DECK_GRADERS} graders; delete a proposed one first",
            limit=LimitProblem(
                name="deckGraders",
                maximum=MAX_DECK_GRADERS,
                unit="graders",
                actual=MAX_DECK_GRADERS,
            ),
        )

    def all_added(self, deck_id: str, graders: Sequence[WholeGrader]) -> list[Write]:
        """Return what stores new graders of a deck, the count first, to be written with more.

        The first write does not hold where the deck was deleted or has not so much room.
        """
        counted = Add(
            pk=deck_id,
            sk=COUNTS,
            name=_COUNTED,
            by=len(graders),
            below=MAX_DECK_GRADERS + 1 - len(graders),
            only_existing=True,
        )
        puts = [
            Put(item=item, condition=_NEW)
            for one in graders
            for item in (_item(one.grader), _version_item(one.current))
        ]
        return [counted, *puts]

    def get(self, deck_id: str, grader_id: str) -> DeckGrader:
        """Return a grader of a deck.

        Raises:
            NotFoundError: the deck has none of this id.
        """
        item = self._table.get(deck_id, grader_key(grader_id)) if is_id("grd", grader_id) else None
        if item is None:
            raise NotFoundError(f"no grader {grader_id} in deck {deck_id}")
        return model_from(item, DeckGrader)

    def list(self, deck_id: str) -> list[DeckGrader]:
        """Return all graders of a deck, oldest first; they are few."""
        items = self._table.items(deck_id, starting=GRADER)
        return [model_from(item, DeckGrader) for item in items]

    def change(
        self, before: DeckGrader, after: DeckGrader, *, version: GraderVersion | None = None
    ) -> bool:
        """Store a changed grader, with a new version if it has one.

        Returns:
            False where it changed or went in the meantime; then nothing is written.
        """
        writes = [self.changed(before, after)]
        if version is not None:
            writes.append(self.added(version))
        return not self._table.transact(writes)

    @staticmethod
    def changed(before: DeckGrader, after: DeckGrader) -> Write:
        """Return what stores a changed grader, if it is as it was read."""
        unchanged = Condition(only_if={"revision": before.revision})
        return Put(item=_item(after), condition=unchanged)

    @staticmethod
    def added(version: GraderVersion) -> Write:
        """Return what stores a new version of a grader."""
        return Put(item=_version_item(version), condition=_NEW)

    @staticmethod
    def settled(version: GraderVersion) -> Write:
        """Return what notes of a candidate that it is none any more; its content stays."""
        as_read = Condition(only_if={"digest": version.digest, "candidate": True})
        return Put(item=_version_item(version), condition=as_read)

    def citing(self, deck_id: str, sample_id: str) -> Sequence[GraderVersion]:
        """Return the versions of a deck's graders that have a sample as an example, with its text.

        Ceiling: all versions of the deck are read, and paid, though few are returned.
        """
        cites = Filter("contains(#rubric, :id)", {"#rubric": "rubric"}, {":id": sample_id})
        found = self._table.items(deck_id, starting=RUBRIC, where=cites)
        return [model_from(item, GraderVersion) for item in found]

    def erase_examples(self, before: GraderVersion, after: GraderVersion) -> bool:
        """Store a version without texts of examples; False where it changed meanwhile."""
        as_read = Condition(only_if={"digest": before.digest, "candidate": before.candidate})
        return not self._table.transact([Put(item=_version_item(after), condition=as_read)])

    def delete(self, grader: DeckGrader, deleted_at: datetime) -> bool:
        """Delete a grader with its versions; False where it changed since.

        What is deleted first is the grader: versions without one are read by nobody. It leaves what
        erases its partition: a grader that is only proposed may be tried, and rated.
        """
        gone = DeletedGrader(
            id=grader.id,
            organization_id=grader.organization_id,
            deck_id=grader.deck_id,
            deleted_at=deleted_at,
        )
        unchanged = Condition(only_if={"revision": grader.revision})
        fewer = Add(pk=grader.deck_id, sk=COUNTS, name=_COUNTED, by=-1, only_existing=True)
        writes: list[Write] = [
            Delete(pk=grader.deck_id, sk=grader_key(grader.id), condition=unchanged),
            fewer,
            Put(item=_gone_item(gone), condition=_NEW),
        ]
        if self._table.transact(writes):
            return False
        for version in range(1, grader.versions + 1):
            self._table.delete(grader.deck_id, rubric_key(grader.id, version))
        return True

    def version(self, deck_id: str, grader_id: str, version: int) -> GraderVersion | None:
        """Return a version of a grader."""
        item = self._table.get(deck_id, rubric_key(grader_id, version))
        return model_from(item, GraderVersion) if item else None

    def current(self, graders: Iterable[DeckGrader]) -> dict[str, GraderVersion]:
        """Return the current version of each grader, by the grader's id."""
        keys = [(grader.deck_id, rubric_key(grader.id, grader.version)) for grader in graders]
        found = (model_from(item, GraderVersion) for item in self._table.get_many(keys).values())
        return {version.grader_id: version for version in found}

    def versions(
        self,
        deck_id: str,
        grader_id: str,
        *,
        candidate: bool | None = None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[GraderVersion], str | None]:
        """Return a page of a grader's versions, newest first.

        Args:
            candidate: only those of edits that are not accepted, or only the others.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        return version_page(
            self._table,
            deck_id,
            rubrics_of(grader_id),
            GraderVersion,
            limit=limit,
            next_token=next_token,
            where=None if candidate is None else _is_candidate(candidate),
        )


def _is_candidate(wanted: bool) -> Filter:
    return Filter("#candidate = :wanted", {"#candidate": "candidate"}, {":wanted": wanted})


def _gone_item(gone: DeletedGrader) -> Item:
    item = item_of(gone, pk=gone.deck_id, sk=GONE + gone.id)
    return {**item, "collection": DELETED_GRADERS}


def _item(grader: DeckGrader) -> Item:
    return item_of(grader, pk=grader.deck_id, sk=grader_key(grader.id))


def _version_item(version: GraderVersion) -> Item:
    return item_of(version, pk=version.deck_id, sk=rubric_key(version.grader_id, version.version))
