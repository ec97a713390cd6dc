"""Reading HTTP answers: models out of successes, typed errors out of everything else."""

import time
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx
from pydantic import ValidationError

from autotune.client.errors import APIError, UnexpectedAnswerError, error_class
from autotune.protocol.problems import Problem
from autotune.protocol.signing import REQUEST_ID_HEADER, TIMESTAMP_HEADER
from autotune.protocol.types import ResponseModel

REPLAYED_HEADER = "idempotent-replayed"

ModelT = TypeVar("ModelT", bound=ResponseModel)


def read_model(response: httpx.Response, model: type[ModelT]) -> ModelT:
    """Parse a success.

    Raises:
        UnexpectedAnswerError: the body is not what the API promises.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise UnexpectedAnswerError(
            status=response.status_code,
            code="unexpected_answer",
            detail=f"the answer is not a {model.__name__}; does the base URL lead to Autotune?",
            request_id=_request_id(response),
        ) from error


def is_replay(response: httpx.Response) -> bool:
    """Return whether the server had seen the idempotency key and gave its first answer again."""
    value: str = response.headers.get(REPLAYED_HEADER, "")
    return value.lower() == "true"


def error_of(response: httpx.Response) -> APIError:
    """Turn an error answer, Autotune's or anybody's on the way, into the error to raise."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return error_class(response.status_code)(
            status=response.status_code,
            code="unexpected_answer",
            detail=_foreign_detail(response),
            request_id=_request_id(response),
            retry_after=retry_after(response),
        )
    return error_class(response.status_code)(
        status=response.status_code,
        code=problem.code,
        detail=_skew_named(problem, response),
        request_id=problem.request_id,
        errors=problem.errors,
        limit=problem.limit,
        budget=problem.budget,
        retry_after=retry_after(response) or problem.retry_after_seconds,
    )


def retry_after(response: httpx.Response) -> float | None:
    """Return the ``Retry-After`` header in seconds from now, given as seconds or as a date."""
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    moment = _http_date(value)
    return None if moment is None else max(0.0, moment - time.time())


def _skew_named(problem: Problem, response: httpx.Response) -> str:
    if problem.code != "stale_request":
        return problem.detail
    there = _http_date(response.headers.get("date", ""))
    sent = response.request.headers.get(TIMESTAMP_HEADER)
    if there is None or sent is None:
        return f"{problem.detail}; set this machine's clock"
    skew = int(sent) - int(there)
    side = "ahead of" if skew > 0 else "behind"
    return f"{problem.detail}; this machine's clock is {abs(skew)} s {side} the server's: set it"


def _foreign_detail(response: httpx.Response) -> str:
    """Say what came instead of problem details: a gateway's message, or the kind of content."""
    reason = response.reason_phrase or "no reason given"
    try:
        content = response.json()
    except ValueError:
        content = None
    if isinstance(content, dict) and isinstance(content.get("message"), str):
        return f"{reason}: {content['message'][:200]}"
    kind = response.headers.get("content-type", "").partition(";")[0] or "an empty body"
    return f"{reason}: {kind} from something in front of the API, or not from Autotune"


def _request_id(response: httpx.Response) -> str | None:
    sent: str | None = response.request.headers.get(REQUEST_ID_HEADER)
    return response.headers.get(REQUEST_ID_HEADER) or sent


def _http_date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
