"""Canceling, retrying and parsing rows by filter, and deleting their texts, page by page.

Each page is bounded, and may be repeated.

What drives the pages is the caller: a filter that a million rows match is a loop of its own.
"""

from collections.abc import Callable, Sequence

from autotune.protocol.llm_filters import ChangedLlmRequests, LlmRequestFilter
from autotune.protocol.llm_requests import ENDED_LLM_STATUSES, LlmStatus
from autotune.protocol.verdict_formats import VerdictFormat
from autotune_platform.access.models import Caller
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.parsing_again import ParsingAgain
from autotune_platform.ledger.queued_ends import QueuedEnd, QueuedEnds
from autotune_platform.ledger.row_lists import Listed, RowLists
from autotune_platform.ledger.service import LedgerService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

PAGE_ROWS = 100
"""Rows that one page changes; a page of 29 seconds has time to find and retry as many."""

PARSE_SECONDS = 10
"""After which a page parses no more answers; the rest is behind its ``nextToken``."""

PARSE_BYTES = 8_000_000
"""Most bytes of answers that are parsed at once, but for a single one's."""

_AT_ONCE = 8
_PENDING: tuple[LlmStatus, ...] = ("queued", "submitted")
_WITHOUT_ANSWER: tuple[LlmStatus, ...] = ("error", "canceled")


@part
class RequestChanging:
    """Changes those of an organisation's rows that a filter matches."""

    ledger: LedgerService
    parsing: ParsingAgain
    lists: RowLists
    queued_ends: QueuedEnds
    clock: Clock = SYSTEM_CLOCK

    def cancel(
        self, caller: Caller, wanted: LlmRequestFilter, *, next_token: str | None
    ) -> ChangedLlmRequests:
        """Cancel a page of rows that have not ended; return those that were canceled by it.

        Raises:
            InvalidRequestError: the filter is of a status that is for good, or the token of
                another list.
            UnavailableError: the table is busy; some of the page may be canceled.
        """
        if wanted.status is not None and wanted.status not in _PENDING:
            raise InvalidRequestError.of_field("filter.status", "queued or submitted")
        statuses = (wanted.status,) if wanted.status else _PENDING
        found, token = self._page(caller, wanted, statuses, next_token)
        queued = (QueuedEnd(row, "canceled") for row in found if row.status == "queued")
        ended = self.queued_ends.end_all(queued)

        def cancel(row: Row) -> str | None:
            if row.id in ended:
                return row.id
            if row.cancel_requested_at is not None and row.status != "queued":
                return None
            self.ledger.cancel(caller, row.id)
            return row.id

        return _changed(found, cancel, token)

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
        found, token = self._page(caller, wanted, statuses, next_token)
        return _changed(found, retry, token)

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
        skipped and counted. Parsing a page again changes nothing. One of long answers is short.

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

        until = self.clock.monotonic() + PARSE_SECONDS
        listed, token = self._listed(caller, wanted, ("completed",), next_token)
        ids: list[str] = []
        done = 0
        while done < len(listed) and (not done or self.clock.monotonic() < until):
            some = self._portion([one.row for one in listed[done : done + _AT_ONCE]])
            ids += _changed(some, parse, None).request_ids
            done += len(some)
        if done < len(listed):
            token = listed[done - 1].behind
        return ChangedLlmRequests(request_ids=ids, skipped=done - len(ids), next_token=token)

    def _portion(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the first of some rows, as many as may be in memory at once, at least one."""
        sizes = self.parsing.texts.output_sizes(row.id for row in rows)
        total = 0
        for number, row in enumerate(rows):
            total += sizes.get(row.id, 0)
            if number and total > PARSE_BYTES:
                return rows[:number]
        return rows

    def erase(
        self, caller: Caller, wanted: LlmRequestFilter, *, next_token: str | None
    ) -> ChangedLlmRequests:
        """Delete the texts of a page of rows that have ended; return those that have none then.

        Deleting a page again changes nothing, and returns the same ids.

        Raises:
            InvalidRequestError: the filter is of a status that is no end, or the token of another
                list.
        """
        if wanted.status in _PENDING:
            raise InvalidRequestError.of_field("filter.status", "completed, error or canceled")

        def erase(row: Row) -> str:
            self.ledger.erase(caller, row.id)
            return row.id

        statuses = (wanted.status,) if wanted.status else ENDED_LLM_STATUSES
        found, token = self._page(caller, wanted, statuses, next_token)
        return _changed(found, erase, token)

    def _page(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        statuses: Sequence[LlmStatus],
        next_token: str | None,
    ) -> tuple[list[Row], str | None]:
        listed, token = self._listed(caller, wanted, statuses, next_token)
        return [one.row for one in listed], token

    def _listed(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        statuses: Sequence[LlmStatus],
        next_token: str | None,
    ) -> tuple[list[Listed], str | None]:
        return self.lists.page(
            caller.organization_id,
            wanted,
            statuses=statuses,
            limit=PAGE_ROWS,
            next_token=next_token,
        )


def _changed(
    found: Sequence[Row], change: Callable[[Row], str | None], token: str | None
) -> ChangedLlmRequests:
    """Change rows; return the ids that came of it, and how many rows were left alone."""
    changed: dict[str, str | None] = {}

    def note(row: Row) -> None:
        changed[row.id] = change(row)

    in_parallel(note, found, at_most=_AT_ONCE)
    ids = [one for row in found if (one := changed[row.id]) is not None]
    return ChangedLlmRequests(request_ids=ids, skipped=len(found) - len(ids), next_token=token)
