"""What callers ask of batches that are there: reading them and their rows, and canceling."""

from itertools import islice

from autotune.protocol import llm_batches as wire
from autotune.protocol.llm_filters import LlmBatchFilter
from autotune.protocol.llm_requests import LlmRequestSummary
from autotune_platform.access.models import Caller
from autotune_platform.ledger.batch_lists import BatchLists
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.models import Batch
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.wire import batch_on_wire, summary_on_wire
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor


@part
class BatchService:
    """Reads and cancels an organisation's batches."""

    rows: RowRepository
    batches: BatchRepository
    lists: BatchLists
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, batch_id: str) -> wire.LlmBatch:
        """Return a batch.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return batch_on_wire(self._batch(caller, batch_id))

    def page(
        self,
        caller: Caller,
        wanted: LlmBatchFilter,
        *,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[wire.LlmBatch], str | None]:
        """Return a page of the organisation's batches that a filter matches, the youngest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        found, token = self.lists.page(
            caller.organization_id, wanted, limit=limit, next_token=next_token
        )
        return [batch_on_wire(batch) for batch in found], token

    def page_of_rows(
        self, caller: Caller, batch_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[LlmRequestSummary], str | None]:
        """Return a page of the rows that a batch was made for, in its order.

        Raises:
            NotFoundError: there is no such batch, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        batch = self._batch(caller, batch_id)
        place = _place_in(next_token)
        ids = list(islice(self.batches.row_ids(batch, behind=place), limit))
        found = self.rows.get_many(ids)
        token = encode_cursor(str(place + limit)) if place + limit < batch.rows else None
        return [summary_on_wire(found[row_id]) for row_id in ids if row_id in found], token

    def cancel(self, caller: Caller, batch_id: str) -> wire.LlmBatch:
        """Cancel what a batch has not asked yet; what was asked stays.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        batch = self._batch(caller, batch_id)
        if batch.phase != "settled" and batch.cancel_requested_at is None:
            self.batches.request_cancel(batch, self.clock.now())
        return batch_on_wire(self._batch(caller, batch_id))

    def _batch(self, caller: Caller, batch_id: str) -> Batch:
        batch = self.batches.get(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        return batch


def _place_in(next_token: str | None) -> int:
    if next_token is None:
        return 0
    (place,) = decode_cursor(next_token, parts=1)
    if not (place.isascii() and place.isdigit() and len(place) < 9):
        raise InvalidRequestError.of_field("nextToken", "the nextToken of the page before")
    return int(place)
