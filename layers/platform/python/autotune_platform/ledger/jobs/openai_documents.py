"""What documents of OpenAI's jobs say, and lines of their files: Azure's are the same."""

from collections.abc import Mapping
from typing import Any, Final

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Line, Reported, reported
from autotune_platform.ledger.jobs.replies import outcome_of
from autotune_platform.ledger.providers.documents import (
    all_of,
    document_of,
    inside,
    items,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.openai import OpenAiFormat
from autotune_platform.ledger.usage import JobUsage

ENDS: Mapping[str, Any] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "canceled",
}
"""How a job with such a status ended; with any other it has not."""

_NOT_COME_TO: Mapping[str, Refusal] = {
    "batch_expired": Refusal("batch_expired", "the provider's job expired before this row"),
    "batch_cancelled": Refusal("canceled", "the provider's job was canceled before this row"),
}
_TOKEN_LIMIT: Final = "token_limit_exceeded"  # noqa: S105 - a word of OpenAI's, no secret


def line_of(line: bytes, spoken: OpenAiFormat, key: str | None) -> Line | None:
    """Return what a line of an output or error file means; None where it names no row."""
    document = document_of(line)
    custom_id = inside(document, "custom_id")
    if not isinstance(custom_id, str):
        return None
    error, response = inside(document, "error"), inside(document, "response")
    code = inside(error, "code")
    if isinstance(code, str) and code in _NOT_COME_TO:
        return Line(custom_id, _NOT_COME_TO[code])
    if isinstance(response, dict):
        status = inside(response, "status_code")
        request_id = name(inside(response, "request_id"))
        known = status if isinstance(status, int) and not isinstance(status, bool) else 0
        body = inside(response, "body")
        outcome = outcome_of(spoken, known, body, key, request_id=request_id)
        return Line(custom_id, outcome)
    if error is None:
        return Line(custom_id, Refusal("result_malformed", "the result holds nothing"))
    return Line(custom_id, outcome_of(spoken, 500, {"error": error}, key))


def progress_of(document: Any, *, names_models: bool) -> Reported:
    """Return how far a job is, by its own counts."""
    counts = inside(document, "request_counts")
    return reported(
        name(inside(document, "model")) if names_models else None,
        completed=tokens(inside(counts, "completed")),
        failed=tokens(inside(counts, "failed")),
        total=tokens(inside(counts, "total")),
    )


def counts_of(shown: Any) -> tuple[int | None, int | None]:
    """Return how many rows were answered, and how many there were, as far as that can be."""
    found = all_of(tokens(inside(shown, "completed")), tokens(inside(shown, "total")))
    if found is None or found[1] == 0:
        return None, None
    return found[0], found[1]


def usage_of(shown: Any) -> JobUsage | None:
    """Return what all rows used, where the job has it."""
    found = all_of(tokens(inside(shown, "input_tokens")), tokens(inside(shown, "output_tokens")))
    if found is None:
        return None
    sent, answered = found
    cached = tokens(inside(shown, "input_tokens_details", "cached_tokens"))
    return JobUsage(input_tokens=sent, cached_input_tokens=cached, output_tokens=answered)


def failure(document: Any) -> tuple[Refusal, dict[int, str]]:
    """Return why a job failed when it was validated, and the rows that it failed for."""
    errors = items(inside(document, "errors", "data"))
    lines: dict[int, str] = {}
    messages: list[str] = []
    codes: set[str] = set()
    for error in errors:
        message = text(inside(error, "message")) or "the provider refused it without a reason"
        messages.append(message)
        code = inside(error, "code")
        if isinstance(code, str):
            codes.add(code)
        number = tokens(inside(error, "line"))
        if number:
            lines.setdefault(number - 1, message)
    why = messages[0] if messages else "the job failed without a reason"
    if _TOKEN_LIMIT in codes:
        return Refusal("rate_limited", why), {}
    if codes & OpenAiFormat.vocabulary.account:
        return Refusal("account", why), {}
    return Refusal("rejected", why), lines


def number(value: Any) -> float | None:
    """Return a number, which a boolean is not, and one of 400 digits neither."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
