"""Records of requests to language models: what was asked and answered, at what cost.

OpenAI's layout is that of the output file of its batch API, as of August 2026:
https://platform.openai.com/docs/api-reference/batch/request-output.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autotune.protocol.exports import LlmRequestsOptions
from autotune.protocol.llm_requests import FinishReason, LlmRequest, LlmStatus
from autotune_platform.exports.models import Export, Position
from autotune_platform.exports.records import COLUMNS, Record
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.records import EndedRow, LedgerRecords

PAGE_ROWS = 200

_STATUSES: tuple[LlmStatus, ...] = ("completed", "error", "canceled")
_FINISH_REASONS: Mapping[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "refusal": "content_filter",
    "other": "stop",
}


def llm_record(options: LlmRequestsOptions, request: LlmRequest) -> Record:
    """Return the record of a request in the layout that was asked for."""
    return _openai(request) if options.layout == "openai" else _plain(request)


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


def _openai(request: LlmRequest) -> Record:
    error: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    if request.status == "completed":
        response = {
            "status_code": 200,
            "request_id": request.provider_request_id or request.id,
            "body": _completion(request),
        }
    else:
        found = request.error
        error = {
            "code": found.code if found else request.status,
            "message": found.message if found else f"the request is {request.status}",
        }
    return {
        "id": request.id,
        "custom_id": request.custom_id or request.id,
        "response": response,
        "error": error,
    }


def _completion(request: LlmRequest) -> dict[str, Any]:
    message = {"role": "assistant", "content": request.raw_output, "refusal": None}
    if request.finish_reason == "refusal":
        message |= {"content": None, "refusal": request.raw_output}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _FINISH_REASONS[request.finish_reason or "other"],
    }
    body: dict[str, Any] = {
        "id": request.provider_request_id or request.id,
        "object": "chat.completion",
        "created": int(request.updated_at.timestamp()),
        "model": request.served_model or request.model,
        "choices": [choice],
    }
    usage = request.usage
    if usage is not None:
        body["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        }
    return body
