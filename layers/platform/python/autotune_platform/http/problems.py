"""The one place where errors become ``application/problem+json``."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)

from autotune.protocol.ids import ID_BODY
from autotune.protocol.problems import PROBLEM_CONTENT_TYPE, FieldProblem, LimitProblem, Problem
from autotune_platform.runtime.bounded_json import TooManyValuesError
from autotune_platform.runtime.clients import is_throttled
from autotune_platform.runtime.errors import (
    AutotuneError,
    BudgetExhaustedError,
    InvalidRequestError,
    MalformedRequestError,
    RequestTooLargeError,
    UnavailableError,
    UnsupportedMediaTypeError,
)

logger = Logger()

_MOST_FIELDS = 20
_FIELD_CHARACTERS = 200
_EXPECTED_CHARACTERS = 500
_DETAIL_CHARACTERS = 800
_LISTED_CHARACTERS = 4_000
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9]{0,63}(?:\.[A-Za-z][A-Za-z0-9]{0,63}){0,4}): ")


def problem_response(error: Exception, *, request_id: str) -> Response[str]:
    """Return the response for an error.

    An error that nobody foresaw is logged with its traceback and returned as ``internal_error``,
    without a word of its text.
    """
    known = _as_autotune_error(error)
    problem = Problem(
        type=f"urn:autotune:problem:{known.code.replace('_', '-')}",
        title=known.title,
        status=known.status,
        code=known.code,
        detail=excerpt(known.detail, _DETAIL_CHARACTERS),
        request_id=request_id,
        errors=_listed(known.fields),
        limit=known.limit,
        retry_after_seconds=known.retry_after_seconds,
        budget=known.budget if isinstance(known, BudgetExhaustedError) else None,
    )
    headers: dict[str, str | list[str]] = {}
    if known.retry_after_seconds is not None:
        headers["Retry-After"] = str(known.retry_after_seconds)
    return Response(
        status_code=known.status,
        content_type=PROBLEM_CONTENT_TYPE,
        body=problem.model_dump_json(by_alias=True, exclude_none=True),
        headers=headers,
    )


def _as_autotune_error(error: Exception) -> AutotuneError:
    match error:
        case AutotuneError():
            return error
        case RequestUnsupportedContentType():
            return UnsupportedMediaTypeError("the body must be application/json")
        case RequestValidationError():
            return invalid_request(error.errors())
        case TooManyValuesError():
            return too_many_values(error)
        case _ if is_throttled(error):
            return UnavailableError("a store is busy", retry_after_seconds=1)
        case _:
            logger.exception("unforeseen error")
            return AutotuneError("This is our fault; operators find it by the id of the request.")


def excerpt(text: str, longest: int) -> str:
    """Return a text, or its beginning and end where it is longer: a caller may have written it."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def _listed(fields: Iterable[FieldProblem]) -> list[FieldProblem]:
    """Return as many fields as a problem of some kilobytes can list, the first one in any case."""
    listed: list[FieldProblem] = []
    left = _LISTED_CHARACTERS
    for one in islice(fields, _MOST_FIELDS):
        short = FieldProblem(
            field=excerpt(one.field, _FIELD_CHARACTERS),
            expected=excerpt(one.expected, _EXPECTED_CHARACTERS),
        )
        left -= len(short.field) + len(short.expected)
        if listed and left < 0:
            break
        listed.append(short)
    return listed


def too_many_values(error: TooManyValuesError) -> RequestTooLargeError:
    """Return the error for a body with more JSON values than its route admits."""
    return RequestTooLargeError(
        f"the request body has {error}",
        limit=LimitProblem(
            name="JSON values in the request body",
            maximum=error.maximum,
            unit="values",
            actual=error.values,
        ),
    )


def invalid_request(faults: Iterable[Mapping[str, Any]]) -> InvalidRequestError:
    """Return the error for what a model found wrong, field by field."""
    found = list(faults)
    if any(fault["type"] == "json_invalid" for fault in found):
        return MalformedRequestError(
            "the body is not JSON",
            fields=[FieldProblem(field="body", expected="one JSON object in UTF-8")],
        )
    fields = _listed(
        FieldProblem(field=_field_path(place), expected=expected)
        for place, expected in map(_placed, found)
    )
    more = len(found) - len(fields)
    detail = f"{fields[0].field}: {fields[0].expected}" + (f" (and {more} more)" if more else "")
    return InvalidRequestError(detail, fields=fields)


def _placed(fault: Mapping[str, Any]) -> tuple[list[str | int], str]:
    """Return where a fault is and what is expected there.

    What a model says of several of its fields begins with the one at fault, as ``minimum: ``.
    """
    place, expected = list(fault["loc"]), _expected(fault)
    named = _NAMED.match(expected) if fault["type"] == "value_error" else None
    if named is None:
        return place, expected
    return [*place, *named[1].split(".")], expected[named.end() :]


def _expected(fault: Mapping[str, Any]) -> str:
    """Describe an id by its looks where the library shows the expression that it has to match."""
    kinds, is_id_pattern, _ = str(fault.get("ctx", {}).get("pattern", "")).partition(f"_{ID_BODY}")
    if not is_id_pattern:
        return str(fault["msg"]).removeprefix("Value error, ")
    return "an id such as " + " or ".join(f"{kind}_…" for kind in kinds.strip("^()").split("|"))


def _field_path(location: Iterable[str | int]) -> str:
    """Return ``completions[3].taskId`` for ``("body", "completions", 3, "taskId")``.

    A field whose name is empty is ``""``, since nothing would name none.
    """
    parts = list(location)
    if len(parts) > 1 and parts[0] in {"body", "query", "path", "header"}:
        parts = parts[1:]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return path.removeprefix(".") or '""'
