"""What documents of OpenRouter's jobs say, and each of the results within them."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, Literal

from autotune_platform.ledger.calls import Outcome, Refusal
from autotune_platform.ledger.jobs.contract import Line, Reported, reported
from autotune_platform.ledger.jobs.replies import outcome_of, refusal_of
from autotune_platform.ledger.jobs.session import Reply
from autotune_platform.ledger.providers import openai, refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    document_of,
    inside,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.openai import OpenAiFormat
from autotune_platform.ledger.usage import JobUsage

ENDS: Mapping[str, Literal["completed", "failed", "expired", "canceled"]] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "canceled",
}
_NOT_COME_TO: Mapping[str, Refusal] = {
    "canceled": Refusal("canceled", "the provider's job was canceled before this row"),
    "cancelled": Refusal("canceled", "the provider's job was canceled before this row"),
    "expired": Refusal("batch_expired", "the provider's job expired before this row"),
}
_STATUS_OF_TYPE: Mapping[str, int] = {
    "authentication_error": 401,
    "content_policy_violation": 400,
    "insufficient_credits": 402,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "timeout_error": 504,
    "token_limit_exceeded": 429,
}
# A failed job has a message and nothing else: what its provider said, of which this one passes.
_TOKEN_LIMIT: Final = "enqueued token limit reached"  # noqa: S105 - OpenAI's words, no secret
_NANO: Final = 9
_DEAREST: Final = Decimal(10**6)


def failure(error: Any, spoken: OpenAiFormat, key: str | None) -> Refusal:
    """Return why a job failed as a whole; no row is ever named."""
    said = (text(inside(error, "message")) or "").lower()
    status = 429 if said.startswith(_TOKEN_LIMIT) else _status(error, 400)
    answer = {"error": error} if said else {"error": {"message": "the job failed"}}
    return refusal_of(Reply(status, {}, encoded(answer)), spoken, key)


def line_of(line: bytes, spoken: OpenAiFormat, key: str | None) -> Line | None:
    """Return what one of the results means; None where it names no row."""
    document = document_of(line)
    custom_id = name(inside(document, "custom_id"))
    return None if custom_id is None else Line(custom_id, _outcome(document, spoken, key))


def _outcome(document: Any, spoken: OpenAiFormat, key: str | None) -> Outcome:
    error, response = inside(document, "error"), inside(document, "response")
    if error is None and isinstance(response, dict):
        status = tokens(inside(response, "status_code"))
        request_id = name(inside(response, "request_id"))
        body = inside(response, "body")
        return outcome_of(spoken, status or 0, body, key, request_id=request_id)
    if error is None:
        return refusals.malformed("the result holds nothing")
    kind = inside(error, "type")
    known = _NOT_COME_TO.get(kind) if isinstance(kind, str) else None
    return known or outcome_of(spoken, _status(error, 500), {"error": error}, key)


def encoded(value: Any) -> bytes:
    """Return a document as it is sent."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def base_model(model: str) -> str:
    """Return a model without its variant, such as ``:batch``, which may be there or not."""
    return model.partition(":")[0]


def malformed() -> Refusal:
    """Return that a job's document cannot be read."""
    return refusals.malformed("the job's document is not whole, or it is no JSON")


def counts_of(document: Any) -> tuple[int | None, int | None]:
    """Return how many rows were answered, and how many there are, as far as that can be."""
    counts = inside(document, "request_counts")
    found = all_of(tokens(inside(counts, "completed")), tokens(inside(counts, "total")))
    return (None, None) if found is None or not found[1] else (found[0], found[1])


def usage_of(shown: Any) -> JobUsage | None:
    """Return what all rows used, counted as that of each is."""
    used = openai.usage_of(shown)
    if used is None:
        return None
    return JobUsage(
        input_tokens=used.input_tokens,
        cached_input_tokens=tokens(inside(shown, "prompt_tokens_details", "cached_tokens")),
        output_tokens=used.output_tokens,
    )


def progress_of(document: Any) -> Reported:
    """Return how far a job is, by its own counts."""
    model, counts = inside(document, "model"), inside(document, "request_counts")
    shown = {one: tokens(inside(counts, one)) for one in ("completed", "failed", "total")}
    return reported(base_model(name(model) or "") or None, **shown)


def nano_usd(cost: Any) -> int | None:
    """Return a cost in nano-USD.

    Its shortest text has the digits that were sent: binary fractions have no part in it.
    """
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    usd = Decimal(str(cost))
    is_cost = usd.is_finite() and 0 <= usd <= _DEAREST
    return int(usd.scaleb(_NANO).to_integral_value()) if is_cost else None


def _status(error: Any, otherwise: int) -> int:
    """Return the status that an error would have had by itself."""
    code = tokens(inside(error, "code"))
    if code is not None and 400 <= code < 600:
        return code
    kinds = (inside(error, "type"), inside(error, "code"))
    known = (_STATUS_OF_TYPE.get(kind) for kind in kinds if isinstance(kind, str))
    return next(filter(None, known), otherwise)
