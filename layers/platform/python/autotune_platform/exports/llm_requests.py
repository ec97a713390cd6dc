"""Records of requests to language models: what was asked and answered, at what cost."""

from collections.abc import Callable, Iterator, Sequence

from autotune.protocol.exports import LlmRequestsOptions
from autotune.protocol.llm_requests import LlmRequest, LlmStatus
from autotune_platform.exports.models import Export, Position
from autotune_platform.exports.records import COLUMNS, Record
from autotune_platform.ledger.openai_results import openai_result
from autotune_platform.ledger.records import LedgerRecords
from autotune_platform.ledger.row_lists import RowLists

PAGE_ROWS = 200

_STATUSES: tuple[LlmStatus, ...] = ("completed", "error", "canceled")


def llm_record(options: LlmRequestsOptions, request: LlmRequest) -> Record:
    """Return the record of a request in the layout that was asked for."""
    return openai_result(request) if options.layout == "openai" else _plain(request)


class RowWalk:
    """Iterates over an export's requests from its position, while there is time.

    They are read status by status, those of a batch or an import all at once. Requests that end
    while it is under way may be left out; none comes twice, because what has ended stays as it is.
    """

    def __init__(
        self,
        lists: RowLists,
        records: LedgerRecords,
        export: Export,
        options: LlmRequestsOptions,
        *,
        has_time: Callable[[], bool],
    ) -> None:
        self._lists = lists
        self._records = records
        self._export = export
        self._has_time = has_time
        self._next: Position | None = export.position
        before = options.created_before
        latest = export.as_of if before is None else min(before, export.as_of)
        self._wanted = options.model_copy(update={"created_before": latest})
        wanted = (options.status,) if options.status else _STATUSES
        is_own = options.batch_id is not None or options.import_id is not None
        self._walks: Sequence[Sequence[LlmStatus]] = (
            [wanted] if is_own else [(status,) for status in wanted]
        )

    @property
    def position(self) -> Position | None:
        """The position behind the last request that was yielded; None at the end."""
        return self._next

    def __iter__(self) -> Iterator[LlmRequest]:
        while self._next is not None:
            walk = self._walk_of(self._next)
            listed, token = self._lists.page(
                self._export.organization_id,
                self._wanted,
                statuses=walk,
                limit=PAGE_ROWS,
                next_token=self._next.token,
            )
            requests = self._records.with_texts(one.row for one in listed)
            for one, request in zip(listed, requests, strict=True):
                self._next = Position(phase="write", status=walk[0], token=one.behind)
                yield request
                if not self._has_time():
                    return
            self._next = self._following(walk, token)
            if not self._has_time():
                return

    def _walk_of(self, position: Position) -> Sequence[LlmStatus]:
        return next((one for one in self._walks if one[0] == position.status), self._walks[0])

    def _following(self, walk: Sequence[LlmStatus], token: str | None) -> Position | None:
        """Return the position behind a page: in the same list, or at the beginning of the next."""
        if token is not None:
            return Position(phase="write", status=walk[0], token=token)
        behind = self._walks[self._walks.index(walk) + 1 :]
        return Position(phase="write", status=behind[0][0]) if behind else None


def _plain(request: LlmRequest) -> Record:
    shown = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    shown["attempts"] = len(request.attempts)
    return {name: shown[name] for name in COLUMNS["llm_requests"] if name in shown}
