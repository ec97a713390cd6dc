"""What callers ask of rows that are there: reading, canceling, trying again."""

from autotune.protocol.llm_filters import LlmRequestFilter
from autotune.protocol.llm_requests import LlmRequest, LlmRequestSummary
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.queued_ends import QueuedEnds
from autotune_platform.ledger.row_lists import RowLists
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.ledger.waiting import RowWaiting
from autotune_platform.ledger.wire import request_on_wire, summary_on_wire
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.long_poll import LongPoll
from autotune_platform.runtime.parts import part

MOST_COST_DAYS = 400

_LOOKS = LongPoll(first_seconds=0.2, usual_seconds=1, longest_seconds=2)


@part
class LedgerService:
    """Reads and changes an organisation's rows."""

    rows: RowRepository
    lists: RowLists
    texts: RowTexts
    queued_ends: QueuedEnds
    connections: ConnectionRepository
    enqueuing: EnqueuingService
    waiting: RowWaiting
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, row_id: str, *, wait_seconds: float = 0) -> LlmRequest:
        """Return a row with its texts, once it has ended or the time is up.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        row = self._row(caller, row_id)
        for _ in _LOOKS.looks(self.clock, seconds=0 if row.has_ended else wait_seconds):
            row = self._row(caller, row_id)
            if row.has_ended:
                break
        found = request_on_wire(row, self.texts.input_of(row.id), self.texts.output_of(row.id))
        return found.model_copy(update={"waiting_because": self.waiting.because(row)})

    def list_requests(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        *,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[LlmRequestSummary], str | None]:
        """Return a page of the organisation's rows that match a filter."""
        found, token = self.lists.page(
            caller.organization_id, wanted, limit=limit, next_token=next_token
        )
        return [summary_on_wire(one.row) for one in found], token

    def cancel(self, caller: Caller, row_id: str) -> LlmRequestSummary:
        """Cancel a row: at once in its queue, else unless it is being asked; an end stays.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            UnavailableError: the table is busy.
        """
        row = self._row(caller, row_id)
        # One that went back to its queue may have been unwanted before.
        while row.status == "queued" or not (row.has_ended or row.cancel_requested_at):
            if row.status == "queued":
                self.queued_ends.end(row, "canceled")
            else:
                self.rows.request_cancel(row, self.clock.now())
            row = self._row(caller, row_id)
        return summary_on_wire(row)

    def retry(self, caller: Caller, row_id: str) -> str:
        """Enqueue a row that has ended once more, as one of its own; return its id.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it has not ended, or its texts are gone, or its connection is.
        """
        row = self._row(caller, row_id)
        if not row.has_ended:
            raise ConflictError(f"the request is {row.status}; only one that has ended is retried")
        text = self.texts.input_of(row.id)
        if text is None:
            raise ConflictError("the request's texts were deleted")
        if text.messages is not None or text.chat_request is not None:
            raise ConflictError("a conversation is answered while somebody waits; ask it anew")
        connection = usable(self.connections.get(row.connection_id))
        if connection is None:
            raise ConflictError("the request's connection was revoked")
        return self.enqueuing.retry(caller, row, text, connection)

    def erase(self, caller: Caller, row_id: str) -> None:
        """Delete the texts of a row that has ended; deleting them again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it has not ended.
        """
        row = self._row(caller, row_id)
        if not row.has_ended:
            raise ConflictError(f"the request is {row.status}; cancel it first")
        self.texts.erase([row.id])

    def _row(self, caller: Caller, row_id: str) -> Row:
        row = self.rows.get(row_id)
        if row is None or row.organization_id != caller.organization_id:
            raise NotFoundError(f"no request {row_id}")
        return row
