"""Where decks are stored, with their versions."""

from collections.abc import Iterable, Iterator, Sequence

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_DECKS
from autotune.protocol.problems import LimitProblem
from autotune_platform.decks.items import (
    COUNTS,
    DECK,
    DELETED_DECKS,
    DELETED_GRADERS,
    GONE,
    GRADER,
    VERSION,
    decks_of,
    item_of,
    model_from,
    version_key,
)
from autotune_platform.decks.models import Deck, DeckCounts, DeckVersion, DeletedDeck, DeletedGrader
from autotune_platform.decks.pages import version_page
from autotune_platform.decks.prompt_index import indexing, require_indexed
from autotune_platform.runtime.errors import NotFoundError, TooManyEntitiesError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import PRESENT, Add, Condition, Delete, Put, Write

_BY_COLLECTION = "byCollection"
_DECKS = "decks"
_NEW = Condition(exists=False)


class DeckRepository:
    """Decks and their versions in the ``decks`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, deck: Deck, first: DeckVersion) -> bool:
        """Store a new deck with its first version.

        Returns:
            False where a deck with its id was made before; then nothing is written.

        Raises:
            TooManyEntitiesError: the organisation has as many as it may, or as many prompts with
                placeholders.
            UnavailableError: the table is busy.
        """
        counts = {"pk": deck.id, "sk": COUNTS, "organization_id": deck.organization_id}
        counted = Add(
            pk=decks_of(deck.organization_id), sk=COUNTS, name=_DECKS, by=1, below=MAX_DECKS
        )
        writes: list[Write] = [
            Put(item=_item(deck), condition=_NEW),
            Put(item=counts, condition=_NEW),
            Put(item=_version_item(first), condition=_NEW),
            counted,
            *indexing(first),
        ]
        refused = self._table.transact(writes)
        if 0 in refused:
            return False
        require_indexed(first, writes, refused)
        if refused:
            raise TooManyEntitiesError(
                f"the organization has {MAX_DECKS} decks; delete one first",
                limit=LimitProblem(name="decks", maximum=MAX_DECKS, unit="decks", actual=MAX_DECKS),
            )
        return True

    def get_of(self, organization_id: str, deck_id: str) -> Deck:
        """Return a deck of an organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        item = self._table.get(deck_id, DECK) if is_id("dck", deck_id) else None
        if item is None or item["organization_id"] != organization_id or "deleted_at" in item:
            raise NotFoundError(f"no deck {deck_id}")
        return model_from(item, Deck)

    def list(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Deck], str | None]:
        """Return a page of an organisation's decks, oldest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        name = decks_of(organization_id)
        after = None
        if next_token is not None:
            (pk,) = decode_cursor(next_token, parts=1)
            if not is_id("dck", pk):
                raise invalid_cursor()
            after = {"collection": name, "pk": pk, "sk": DECK}
        page = self._table.query(
            name, partition_name="collection", index=_BY_COLLECTION, limit=limit, after=after
        )
        token = encode_cursor(page.last_key["pk"]) if page.last_key else None
        return [model_from(item, Deck) for item in page.items], token

    def usable(self, organization_id: str, deck_ids: Iterable[str]) -> dict[str, Deck]:
        """Return those of an organisation's decks that are neither archived nor deleted, by id."""
        found = self._table.get_many((one, DECK) for one in deck_ids if is_id("dck", one))
        there = [
            model_from(item, Deck)
            for item in found.values()
            if item["organization_id"] == organization_id and "deleted_at" not in item
        ]
        return {deck.id: deck for deck in there if deck.status != "archived"}

    def counts(self, deck_ids: Iterable[str]) -> dict[str, DeckCounts]:
        """Return how many samples and graders decks have, by id."""
        found = self._table.get_many((deck_id, COUNTS) for deck_id in deck_ids)
        return {pk: model_from(item, DeckCounts) for (pk, _), item in found.items()}

    def change(
        self,
        before: Deck,
        after: Deck,
        *,
        version: DeckVersion | None = None,
        others: Sequence[Write] = (),
    ) -> bool:
        """Store a changed deck, with a new version if it has one, and other items.

        Returns:
            False where it changed or went in the meantime; then nothing is written.

        Raises:
            TooManyEntitiesError: the organisation has as many prompts with placeholders as it may.
        """
        unchanged = Condition(only_if={"revision": before.revision})
        writes: list[Write] = [Put(item=_item(after), condition=unchanged)]
        if version is not None:
            writes += [Put(item=_version_item(version), condition=_NEW), *indexing(version)]
        writes += others
        refused = self._table.transact(writes)
        if version is not None and 0 not in refused:
            require_indexed(version, writes, refused)
        return not refused

    def mark_deleted(self, deck: Deck, deleted: DeletedDeck) -> bool:
        """Leave of a deck what erases it; from then on nothing is added to it and nobody reads it.

        Returns:
            False where it changed or went in the meantime; then nothing is written.
        """
        left = {**item_of(deleted, pk=deck.id, sk=DECK), "collection": DELETED_DECKS}
        unchanged = Condition(only_if={"revision": deck.revision})
        counted = Add(pk=decks_of(deck.organization_id), sk=COUNTS, name=_DECKS, by=-1)
        return not self._table.transact(
            [
                Put(item=left, condition=unchanged),
                Delete(pk=deck.id, sk=COUNTS, condition=PRESENT),
                counted,
            ]
        )

    def grader_ids(self, deck_id: str) -> Sequence[str]:
        """Return the ids of a deck's graders, with those that are deleted and not yet erased."""
        return [
            item["id"]
            for prefix in (GRADER, GONE)
            for item in self._table.items(deck_id, starting=prefix)
        ]

    def deleted(self) -> Iterator[DeletedDeck]:
        """Yield the decks of all organisations that are deleted and not yet erased."""
        for item in self._table.items(
            DELETED_DECKS, partition_name="collection", index=_BY_COLLECTION
        ):
            yield model_from(item, DeletedDeck)

    def deleted_graders(self) -> Iterator[DeletedGrader]:
        """Yield the graders of all decks that are deleted and not yet erased."""
        for item in self._table.items(
            DELETED_GRADERS, partition_name="collection", index=_BY_COLLECTION
        ):
            yield model_from(item, DeletedGrader)

    def version(self, deck_id: str, version: int) -> DeckVersion | None:
        """Return a version of a deck."""
        item = self._table.get(deck_id, version_key(version))
        return model_from(item, DeckVersion) if item else None

    def prompts(self, deck_id: str, versions: Iterable[int]) -> dict[int, str]:
        """Return the system prompts of those versions that a deck has, by number."""
        keys = [(deck_id, version_key(version)) for version in versions]
        found = self._table.get_many(keys, attributes=("version", "system_prompt")).values()
        return {int(item["version"]): item["system_prompt"] for item in found}

    def versions(
        self, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[DeckVersion], str | None]:
        """Return a page of a deck's versions, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        return version_page(
            self._table, deck_id, VERSION, DeckVersion, limit=limit, next_token=next_token
        )


def _item(deck: Deck) -> Item:
    collection = decks_of(deck.organization_id)
    return {**item_of(deck, pk=deck.id, sk=DECK), "collection": collection}


def _version_item(version: DeckVersion) -> Item:
    return item_of(version, pk=version.deck_id, sk=version_key(version.version))
