"""Where imports are stored: in the ``ledger`` table, open ones where the sweeper finds them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_OPEN_LLM_IMPORTS
from autotune.protocol.llm_imports import LlmImportState
from autotune_platform.ledger.imports.events import import_completed
from autotune_platform.ledger.imports.models import Import
from autotune_platform.ledger.models import as_stored
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import entity_attributes, entity_from
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.outbox import outbox_addition

_STATE = "state"
_DUE = "dueBatches"
_BY_LISTING = "rowsByStatus"
_SHARDS = 8
_OPEN = "imports"
_ATTEMPTS = 8


class ImportRepository:
    """Imports in the ``ledger`` table; all changes are conditional on where the import stood."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._due = DueIndex(table, sk=_STATE, index=_DUE, shards=_SHARDS)

    def add(self, one: Import) -> bool:
        """Store a new import in place of one that has expired; False where there is another."""
        expires_at = int(one.expires_at.timestamp())
        item = {
            "pk": one.id,
            "sk": _STATE,
            **entity_attributes(one),
            # Its place in the list never changes, so that progress costs nothing in the index.
            "list_shard": _listed(one.organization_id),
            "list_position": f"{moment(one.created_at)}#{one.id}",
            "expires_at": expires_at,
        }
        return self._table.put_new(item, or_expired_at=int(one.created_at.timestamp()))

    def get(self, import_id: str) -> Import | None:
        """Return an import of any organisation."""
        item = self._table.get(import_id, _STATE) if is_id("lim", import_id) else None
        return entity_from(item, Import) if item else None

    def page(
        self,
        organization_id: str,
        *,
        state: LlmImportState | None,
        now: datetime,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Import], str | None]:
        """Return a page of an organisation's imports, the youngest first.

        Args:
            state: the only one; a page may be short then.
            now: what has expired by then is left out.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        below = decode_cursor(next_token, parts=1)[0] if next_token is not None else None
        page = self._table.query(
            _listed(organization_id),
            partition_name="list_shard",
            index=_BY_LISTING,
            newest_first=True,
            limit=limit,
            below=("list_position", below) if below else None,
        )
        keys = [(item["pk"], _STATE) for item in page.items]
        items = self._table.get_many(keys)
        found = [entity_from(items[key], Import) for key in keys if key in items]
        token = encode_cursor(page.items[-1]["list_position"]) if page.last_key else None
        shown = [one for one in found if one.expires_at > now and state in (None, one.state)]
        return shown, token

    def start(self, one: Import, changes: Mapping[str, Any], *, due_at: datetime) -> bool:
        """Open an import, as one of those that may be under way at a time.

        Returns:
            False where as many are under way as may be, or the import was started or ended.

        Raises:
            UnavailableError: the table is busy.
        """
        opened = self._due.opened(one.id, due_at)
        begun = self._change(one, {**as_stored(changes), **opened})
        counted = self._counted(one, 1, at_most={_OPEN: MAX_OPEN_LLM_IMPORTS - 1})
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together([begun, counted]):
                return True
            now = self.get(one.id)
            if now is None or now.state != one.state:
                return False
            item = self._table.get(counted.pk, counted.sk) or {}
            if int(item.get(_OPEN, 0)) >= MAX_OPEN_LLM_IMPORTS:
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def advance(self, one: Import, changes: Mapping[str, Any], *, due_at: datetime | None) -> bool:
        """Change an open import; False where it is not any more as it was read."""
        gone = [name for name, value in changes.items() if value is None]
        kept = as_stored({name: value for name, value in changes.items() if value is not None})
        return self._due.move(one.id, due_at, changes=kept, remove=gone, only_if=_was(one))

    def end(self, one: Import, changes: Mapping[str, Any]) -> bool:
        """End an import; False where it is not any more as it was read.

        One that was started makes an event, in the same transaction.

        Raises:
            UnavailableError: the table is busy.
        """
        ended = self._change(one, as_stored(changes))
        additions = [ended]
        if one.started_at is not None:
            event = import_completed(one.model_copy(update=dict(changes)))
            published = outbox_addition(event, table=self._table.name, pk=one.id)
            additions += [self._counted(one, -1), published]
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._table.add_together(additions):
                self._due.close(one.id)
                return True
            now = self.get(one.id)
            if now is None or _was(now) != _was(one):
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def close(self, import_id: str) -> None:
        """Have the sweeper not look at an import any more."""
        self._due.close(import_id)

    def _change(self, one: Import, changes: Mapping[str, Any]) -> Addition:
        return Addition(
            table=self._table.name, pk=one.id, sk=_STATE, changes=changes, only_if=_was(one)
        )

    def _counted(
        self, one: Import, by: int, *, at_most: Mapping[str, int] | None = None
    ) -> Addition:
        return Addition(
            table=self._table.name,
            pk=f"open#{one.organization_id}",
            sk=_OPEN,
            numbers={_OPEN: by},
            at_most=at_most or {},
        )


def _listed(organization_id: str) -> str:
    return f"{organization_id}#imports"


def _was(one: Import) -> dict[str, int | str | bool | None]:
    return {
        "state": one.state,
        "phase": one.phase,
        "offset": one.offset,
        "redrive": one.redrive,
    }
