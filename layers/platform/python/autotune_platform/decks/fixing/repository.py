"""Where edits are stored, and the looks that they spend: in the partition of their deck."""

from autotune.protocol.ids import is_id
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.items import EDIT, item_of, model_from
from autotune_platform.decks.look_repository import LookRepository, edit_key
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item
from autotune_platform.storage.transactions import Condition, Put, Write


class EditRepository(LookRepository):
    """Edits and looks in the table ``decks``; all changes are conditional on what was read."""

    def require(self, deck_id: str, grader_id: str, edit_id: str) -> Edit:
        """Return an edit of a grader.

        Raises:
            NotFoundError: there is none.
        """
        known = is_id("grd", grader_id) and is_id("edt", edit_id)
        item = self._table.get(deck_id, edit_key(grader_id, edit_id)) if known else None
        if item is None:
            raise NotFoundError(f"no edit {edit_id} of grader {grader_id}")
        return model_from(item, Edit)

    def page(
        self, deck_id: str, grader_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Edit], str | None]:
        """Return a page of a grader's edits, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        after = None
        if next_token is not None:
            (last,) = decode_cursor(next_token, parts=1)
            if not is_id("edt", last):
                raise invalid_cursor()
            after = {"pk": deck_id, "sk": edit_key(grader_id, last)}
        prefix = edit_key(grader_id, "")
        page = self._table.query(
            deck_id, starting=prefix, newest_first=True, limit=limit, after=after
        )
        token = encode_cursor(page.last_key["sk"].removeprefix(prefix)) if page.last_key else None
        return [model_from(item, Edit) for item in page.items], token

    def citing(self, deck_id: str, sample_id: str) -> list[Edit]:
        """Return the edits of a deck that have a sample as an example."""
        cites = Filter("contains(#patch, :id)", {"#patch": "patch"}, {":id": sample_id})
        found = self._table.items(deck_id, starting=EDIT, where=cites)
        return [model_from(item, Edit) for item in found]

    @staticmethod
    def added(edit: Edit) -> Write:
        """Return what stores a new edit."""
        return Put(item=_item(edit), condition=Condition(exists=False))

    @staticmethod
    def changed(before: Edit, after: Edit) -> Write:
        """Return what stores a changed edit, if it is as it was read."""
        as_read = Condition(only_if={"revision": before.revision})
        return Put(item=_item(after), condition=as_read)


def _item(edit: Edit) -> Item:
    return item_of(edit, pk=edit.deck_id, sk=edit_key(edit.grader_id, edit.id))
