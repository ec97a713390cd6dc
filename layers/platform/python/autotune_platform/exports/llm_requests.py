"""Records of requests to language models: what was asked and answered, at what cost."""

from collections.abc import Callable, Iterator

from autotune.protocol.exports import LlmRequestsOptions
from autotune.protocol.llm_requests import LlmRequest, LlmStatus
from autotune_platform.exports.models import Export, Position
from autotune_platform.exports.records import COLUMNS, Record
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.openai_results import openai_result
from autotune_platform.ledger.records import EndedRow, LedgerRecords

PAGE_ROWS = 200

_STATUSES: tuple[LlmStatus, ...] = ("completed", "error", "canceled")


def llm_record(options: LlmRequestsOptions, request: LlmRequest) -> Record:
    """Return the record of a request in the layout that was asked for."""
    return openai_result(request) if options.layout == "openai" else _plain(request)


class RowWalk:
    """Iterates over an export's rows from its position, while there is time.

    Rows that end while it is under way may be left out; none comes twice, because what has ended
    stays as it is.
    """

    def __init__(
        self,
        source: LedgerRecords,
        export: Export,
        options: LlmRequestsOptions,
        *,
        has_time: Callable[[], bool],
    ) -> None:
        self._source = source
        self._export = export
        self._options = options
        self._has_time = has_time
        self._next: Position | None = export.position

    @property
    def position(self) -> Position | None:
        """The position behind the last row that was yielded; None at the end."""
        return self._next

    def __iter__(self) -> Iterator[EndedRow]:
        while self._next is not None:
            status, token = self._next.status or _STATUSES[0], self._next.token
            rows, token = self._source.page(
                self._export.organization_id,
                status=status,
                where=_where(self._options),
                limit=PAGE_ROWS,
                next_token=token,
            )
            for one in self._source.with_texts([row for row in rows if self._is_wanted(row)]):
                self._next = Position(phase="write", status=status, token=one.behind)
                yield one
                if not self._has_time():
                    return
            self._next = _following(status, token)
            if not self._has_time():
                return

    def _is_wanted(self, row: Row) -> bool:
        after, before = self._options.created_after, self._options.created_before
        return (
            row.created_at < self._export.as_of
            and (after is None or row.created_at >= after)
            and (before is None or row.created_at < before)
        )


def _following(status: LlmStatus, token: str | None) -> Position | None:
    """Return the position behind a page: in the same list, or at the beginning of the next."""
    if token is not None:
        return Position(phase="write", status=status, token=token)
    behind = _STATUSES[_STATUSES.index(status) + 1 :]
    return Position(phase="write", status=behind[0]) if behind else None


def _where(options: LlmRequestsOptions) -> dict[str, str]:
    named = options.model_dump(exclude={"layout", "created_after", "created_before"})
    return {name: value for name, value in named.items() if value is not None}


def _plain(request: LlmRequest) -> Record:
    shown = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    shown["attempts"] = len(request.attempts)
    return {name: shown[name] for name in COLUMNS["llm_requests"] if name in shown}
