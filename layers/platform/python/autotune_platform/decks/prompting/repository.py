"""Where edits of system prompts are stored, and their looks: in the partition of their deck."""

from collections.abc import Iterable

from autotune.protocol.ids import is_id
from autotune_platform.decks.items import PROMPT_EDIT, PROMPT_LOOKS, item_of, model_from
from autotune_platform.decks.prompting.models import DECIDED, PromptEdit, PromptLooks
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import Condition, Put, Write

_NEW = Condition(exists=False)


class PromptEditRepository:
    """Edits in the table ``decks``; all changes are conditional on what was read."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, deck_id: str, edit_id: str) -> PromptEdit | None:
        """Return an edit of a deck; None where there is none."""
        item = self._table.get(deck_id, PROMPT_EDIT + edit_id) if is_id("ped", edit_id) else None
        return model_from(item, PromptEdit) if item else None

    def require(self, deck_id: str, edit_id: str) -> PromptEdit:
        """Return an edit of a deck.

        Raises:
            NotFoundError: there is none.
        """
        edit = self.get(deck_id, edit_id)
        if edit is None:
            raise NotFoundError(f"no prompt edit {edit_id} of deck {deck_id}")
        return edit

    def undecided(self, deck_id: str, edit_ids: Iterable[str]) -> set[str]:
        """Return those of some edits of a deck that nobody has decided on yet."""
        keys = [(deck_id, PROMPT_EDIT + one) for one in edit_ids]
        if not keys:
            return set()
        found = self._table.get_many(keys, attributes=("id", "status")).values()
        return {item["id"] for item in found if item["status"] not in DECIDED}

    def page(
        self, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[PromptEdit], str | None]:
        """Return a page of a deck's edits, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        after = None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not is_id("ped", last):
                raise invalid_cursor()
            after = {"pk": deck_id, "sk": PROMPT_EDIT + last}
        page = self._table.query(
            deck_id, starting=PROMPT_EDIT, newest_first=True, limit=limit, after=after
        )
        last_key = page.last_key
        token = encode_cursor(last_key["sk"].removeprefix(PROMPT_EDIT)) if last_key else None
        return [model_from(item, PromptEdit) for item in page.items], token

    def looks(self, edit: PromptEdit) -> PromptLooks:
        """Return the looks that edits of a deck's prompt have spent."""
        item = self._table.get(edit.deck_id, PROMPT_LOOKS)
        if item is None:
            return PromptLooks(organization_id=edit.organization_id)
        return model_from(item, PromptLooks)

    def change(self, before: PromptEdit, after: PromptEdit, *others: Write) -> bool:
        """Store a changed edit with other items; False where something is not as it was read.

        Raises:
            UnavailableError: the table is busy.
        """
        return not self._table.transact([self.changed(before, after), *others])

    @staticmethod
    def added(edit: PromptEdit) -> Write:
        """Return what stores a new edit."""
        return Put(item=_item(edit), condition=_NEW)

    @staticmethod
    def changed(before: PromptEdit, after: PromptEdit) -> Write:
        """Return what stores a changed edit, if it is as it was read."""
        as_read = Condition(only_if={"revision": before.revision})
        return Put(item=_item(after), condition=as_read)

    @staticmethod
    def spent(deck_id: str, before: PromptLooks, after: PromptLooks) -> Write:
        """Return what stores looks, if there is none that was not read."""
        as_read = Condition(only_if={"revision": before.revision}) if before.revision else _NEW
        return Put(item=item_of(after, pk=deck_id, sk=PROMPT_LOOKS), condition=as_read)


def _item(edit: PromptEdit) -> Item:
    return item_of(edit, pk=edit.deck_id, sk=PROMPT_EDIT + edit.id)
