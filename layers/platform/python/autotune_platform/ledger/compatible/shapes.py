"""OpenAI's words for files, batches and errors, as of August 2026.

https://platform.openai.com/docs/api-reference/batch/object and ``/files/object``.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.problems import PROBLEM_CONTENT_TYPE, Problem
from autotune_platform.ledger.compatible.chat_refusals import NOT_TO_REPEAT
from autotune_platform.ledger.compatible.models import ENDPOINT, File
from autotune_platform.ledger.compatible.progress import Progress

Shape = dict[str, Any]

_INVALID = "invalid_request_error"
_QUOTA = "insufficient_quota"  # its type as well
_TYPES: Mapping[int, str] = {401: _INVALID, 403: "permission_error", 429: "rate_limit_error"}
_CODES: Mapping[str, str] = {
    "unauthenticated": "invalid_api_key",
    "budget_exhausted": "insufficient_quota",
    "too_many_requests": "rate_limit_exceeded",
}
TOO_LARGE_FILE = (
    "; /v1/files takes files of up to 4,000,000 bytes: send a larger one to "
    "POST /api/v1/llm-imports, which takes 200 MB"
)


def file_shape(file: File) -> Shape:
    """Return a file."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": _seconds(file.created_at),
        "expires_at": _seconds(file.expires_at),
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }


def batch_shape(progress: Progress) -> Shape:
    """Return a batch, and how far it is."""
    batch, status = progress.batch, progress.status
    ended = {f"{status}_at": _seconds(batch.ended_at)} if batch.ended_at else {}
    named = dict.fromkeys(("completed_at", "failed_at", "expired_at", "cancelled_at"))
    completed, failed, _, given, cached, output, reasoning = progress.counts
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": ENDPOINT,
        "errors": {"object": "list", "data": list(batch.errors)} if batch.errors else None,
        "input_file_id": batch.input_file_id,
        "completion_window": "24h",
        "status": status,
        "output_file_id": batch.output_file_id if batch.output_bytes else None,
        "error_file_id": batch.error_file_id if batch.error_bytes else None,
        "created_at": _seconds(batch.created_at),
        "in_progress_at": _seconds(progress.in_progress_at),
        "expires_at": None,
        "finalizing_at": None,
        "cancelling_at": _seconds(batch.cancel_requested_at),
        **named,
        **ended,
        "request_counts": {"total": batch.lines, "completed": completed, "failed": failed},
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": given + output,
        },
        "metadata": batch.metadata,
    }


def list_shape(data: Sequence[Shape], *, has_more: bool) -> Shape:
    """Return a page."""
    return {
        "object": "list",
        "data": list(data),
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": has_more,
    }


def in_openai_words(answer: dict[str, Any], *, too_large: str = "") -> dict[str, Any]:
    """Return an answer whose problem, if it is one, is an error as OpenAI words it.

    Args:
        too_large: what is said besides where it is that the body is too large.
    """
    if answer["headers"].get("Content-Type") != PROBLEM_CONTENT_TYPE:
        return answer
    problem = Problem.model_validate_json(answer["body"])
    usual = "server_error" if problem.status >= 500 else _INVALID
    error = {
        "message": problem.detail + (too_large if problem.status == 413 else ""),
        "type": _QUOTA if problem.code == _QUOTA else _TYPES.get(problem.status, usual),
        "param": problem.errors[0].field if problem.errors else None,
        "code": _CODES.get(problem.code, problem.code),
    }
    headers = {**answer["headers"], "Content-Type": "application/json"}
    if problem.code in NOT_TO_REPEAT:
        headers["x-should-retry"] = "false"  # as the openai package reads it
    return {**answer, "headers": headers, "body": json.dumps({"error": error})}


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
