"""Canceling, retrying and parsing rows by filter, page by page.

Each page is bounded, and may be repeated.

What drives the pages is the caller: a filter that a million rows match is a loop of its own.
"""

from collections.abc import Callable, Sequence

from autotune.protocol.llm_requests import (
    ChangedLlmRequests,
    LlmRequestFilter,
    LlmStatus,
)
from autotune.protocol.verdict_formats import VerdictFormat
from autotune_platform.access.models import Caller
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.parsing_again import ParsingAgain
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.service import LedgerService, conditions
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

PAGE_ROWS = 100
"""Rows that one page looks at; a page of 29 seconds has time for as many retries."""

_AT_ONCE = 8
_PENDING: tuple[LlmStatus, ...] = ("queued", "submitted")
_WITHOUT_ANSWER: tuple[LlmStatus, ...] = ("error", "canceled")


@part
class RequestChanging:
    """Changes those of an organisation's rows that a filter matches."""

    ledger: LedgerService
    parsing: ParsingAgain
    rows: RowRepository

    def cancel(
        self, caller: Caller, wanted: LlmRequestFilter, *, next_token: str | None
    ) -> ChangedLlmRequests:
        """Cancel a page of rows that have not ended; return those that were canceled by it.

        Raises:
            InvalidRequestError: the filter is of a status that is for good, or the token of
                another list.
        """
        if wanted.status is not None and wanted.status not in _PENDING:
            raise InvalidRequestError.of_field("filter.status", "queued or submitted")

        def cancel(row: Row) -> str | None:
            if row.cancel_requested_at is not None and row.status != "queued":
                return None
            self.ledger.cancel(caller, row.id)
            return row.id

        statuses = (wanted.status,) if wanted.status else _PENDING
        return self._changed(caller, wanted, statuses, cancel, next_token)

    def retry(
        self, caller: Caller, wanted: LlmRequestFilter, *, next_token: str | None
    ) -> ChangedLlmRequests:
        """Retry a page of rows that ended without an answer, or in the filter's status.

        Those whose texts, connection or price are gone are skipped and counted. Retrying a page
        again returns the same ids.

        Raises:
            InvalidRequestError: the filter is of a status that is no end, or the token of another
                list.
            TooManyOpenRowsError: there is no room for more; some of the page may be enqueued.
        """
        if wanted.status in _PENDING:
            raise InvalidRequestError.of_field("filter.status", "completed, error or canceled")

        def retry(row: Row) -> str | None:
            try:
                return self.ledger.retry(caller, row.id)
            except (ConflictError, InvalidRequestError):
                return None

        statuses = (wanted.status,) if wanted.status else _WITHOUT_ANSWER
        return self._changed(caller, wanted, statuses, retry, next_token)

    def parse(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        form: VerdictFormat | None,
        *,
        next_token: str | None,
    ) -> ChangedLlmRequests:
        """Parse answers of a page of completed rows again; return those that are parsed so then.

        Those whose texts are gone, that have no format, or as many versions as they may, are
        skipped and counted. Parsing a page again changes nothing.

        Raises:
            InvalidRequestError: the filter is of a status without an answer, or the token of
                another list.
        """
        if wanted.status not in (None, "completed"):
            raise InvalidRequestError.of_field("filter.status", "completed")

        def parse(row: Row) -> str | None:
            try:
                self.parsing.parse(caller, row.id, form)
            except (ConflictError, InvalidRequestError):
                return None
            return row.id

        return self._changed(caller, wanted, ("completed",), parse, next_token)

    def _changed(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        statuses: Sequence[LlmStatus],
        change: Callable[[Row], str | None],
        next_token: str | None,
    ) -> ChangedLlmRequests:
        found, token = self.rows.page(
            caller.organization_id,
            status=None,
            statuses=statuses,
            where=conditions(wanted),
            created_after=wanted.created_after,
            created_before=wanted.created_before,
            limit=PAGE_ROWS,
            next_token=next_token,
        )
        changed: dict[str, str | None] = {}

        def note(row: Row) -> None:
            changed[row.id] = change(row)

        in_parallel(note, found, at_most=_AT_ONCE)
        ids = [one for row in found if (one := changed[row.id]) is not None]
        return ChangedLlmRequests(request_ids=ids, skipped=len(found) - len(ids), next_token=token)
