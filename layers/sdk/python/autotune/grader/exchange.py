"""A grader's requests and answers without a transport: reading the one, and forming the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal, Self

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from autotune.protocol import problems
from autotune.protocol.grading import GradedCompletion, ScoreOptions, ScoreRequest
from autotune.protocol.limits import MAX_GRADER_REQUEST_BYTES, MAX_HEADER_BYTES

Operation = Literal["score", "score_batch", "health"]

_METHODS: dict[Operation, str] = {"score": "POST", "score_batch": "POST", "health": "GET"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as it arrived.

    Attributes:
        method: upper or lower case.
        path: decoded or not, with or without a prefix such as a stage.
        headers: names in lower case.
        body: the raw bytes that the signature covers.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An answer; ``headers`` has lower-case names, ``body`` is UTF-8 JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of_model(cls, model: BaseModel, status: int = 200) -> Self:
        """Return ``model`` as camelCase JSON without its empty fields."""
        return cls(
            status=status,
            headers={"content-type": "application/json", "cache-control": "no-store"},
            body=model.model_dump_json(by_alias=True, exclude_none=True).encode(),
        )

    def with_headers(self, headers: Mapping[str, str]) -> "HttpResponse":
        """Return the same answer with ``headers`` added."""
        return HttpResponse(status=self.status, headers={**self.headers, **headers}, body=self.body)


@dataclass(eq=False)
class ProblemError(Exception):
    """A request that is answered with a problem; ``detail`` goes outward, no text of the owner."""

    status: int
    code: str
    detail: str
    errors: Sequence[problems.FieldProblem] = ()
    limit: problems.LimitProblem | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.detail}"

    def to_response(self, request_id: str) -> HttpResponse:
        """Return the problem as ``application/problem+json`` (RFC 9457)."""
        problem = problems.Problem(
            type=f"urn:autotune:problem:{self.code.replace('_', '-')}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            code=self.code,
            detail=self.detail,
            request_id=request_id,
            errors=list(self.errors),
            limit=self.limit,
        )
        response = HttpResponse.of_model(problem, self.status)
        return response.with_headers(
            {"content-type": problems.PROBLEM_CONTENT_TYPE, **self.headers}
        )


def operation_of(request: HttpRequest) -> Operation:
    """Return what is asked for; any prefix before the operation is the deployment's affair.

    Raises:
        ProblemError: 404 for an unknown path, 405 for a known one with another method.
    """
    segments = [segment for segment in request.path.split("/") if segment]
    operation: Operation
    match segments:
        case [*_, "score", "batch"]:
            operation = "score_batch"
        case [*_, "score"]:
            operation = "score"
        case [*_, "health"]:
            operation = "health"
        case _:
            raise ProblemError(
                404, "not_found", "A grader answers POST /score, POST /score/batch and GET /health."
            )
    method = _METHODS[operation]
    if request.method.upper() != method:
        raise ProblemError(
            405, "method_not_allowed", f"This path takes {method} only.", headers={"allow": method}
        )
    return operation


def require_size(body: bytes) -> None:
    """Refuse a body over the limit.

    Raises:
        ProblemError: 413 with the limit.
    """
    if len(body) > MAX_GRADER_REQUEST_BYTES:
        raise ProblemError(
            413,
            "request_too_large",
            f"A request to a grader has at most {MAX_GRADER_REQUEST_BYTES} bytes.",
            limit=problems.LimitProblem(
                name="graderRequestBytes", maximum=MAX_GRADER_REQUEST_BYTES, unit="bytes"
            ),
        )


def too_large_headers() -> ProblemError:
    """Return the refusal of a request whose headers are over the limit."""
    return ProblemError(
        431,
        "headers_too_large",
        f"The headers of a request to a grader have at most {MAX_HEADER_BYTES} bytes.",
        limit=problems.LimitProblem(name="headerBytes", maximum=MAX_HEADER_BYTES, unit="bytes"),
    )


def read_score_request(body: bytes) -> ScoreRequest:
    """Return the body of ``POST /score``.

    Raises:
        ProblemError: 400 for what is not JSON, 422 with the fields at fault.
    """
    try:
        return ScoreRequest.model_validate(_read_object(body))
    except ValidationError as error:
        raise _refusal(problems.field_problems(error)) from None


class BatchRequest:
    """A ``POST /score/batch`` whose items were read one by one: a broken one spoils no other.

    Attributes:
        request_id: as in the body.
        options: as in the body, or the defaults.
        callback_url: where the answer may go later; None where it has to come at once.
        completions: what can be graded.
        broken_ids: ids of items that have an id but cannot be graded.
    """

    def __init__(self, body: bytes, *, max_batch_size: int) -> None:
        """Read ``body``.

        Raises:
            ProblemError: 400 for what is not JSON, 413 over ``max_batch_size``, 422 for an envelope
                that cannot be read, an item without an id, or an id that comes twice.
        """
        content = _read_object(body)
        items = content.get("completions")
        if not isinstance(items, list) or not items:
            raise _unprocessable("completions", "a list of at least one completion")
        if len(items) > max_batch_size:
            raise ProblemError(
                413,
                "request_too_large",
                f"This grader takes at most {max_batch_size} completions in one batch.",
                limit=problems.LimitProblem(
                    name="maxBatchSize",
                    maximum=max_batch_size,
                    unit="completions",
                    actual=len(items),
                ),
            )
        self.request_id = _text(content, "requestId")
        self.options = _options(content)
        self.callback_url = _optional_text(content, "callbackUrl")
        self.completions: list[GradedCompletion] = []
        self.broken_ids: list[str] = []
        self._read_items(items)

    def _read_items(self, items: list[object]) -> None:
        seen: set[str] = set()
        for position, item in enumerate(items):
            item_id = item.get("id") if isinstance(item, dict) else None
            if not isinstance(item_id, str) or item_id in seen:
                expected = "text that no other completion of the batch has"
                raise _unprocessable(f"completions[{position}].id", expected)
            seen.add(item_id)
            try:
                self.completions.append(GradedCompletion.model_validate(item))
            except ValidationError:
                self.broken_ids.append(item_id)


def _read_object(body: bytes) -> dict[str, object]:
    try:
        content = from_json(body)
    except ValueError:
        raise ProblemError(400, "invalid_request", "The body must be JSON in UTF-8.") from None
    if not isinstance(content, dict):
        raise _unprocessable("", "a JSON object")
    return content


def _text(content: dict[str, object], name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str):
        raise _unprocessable(name, "text")
    return value


def _optional_text(content: dict[str, object], name: str) -> str | None:
    return None if content.get(name) is None else _text(content, name)


def _options(content: dict[str, object]) -> ScoreOptions:
    try:
        return ScoreOptions.model_validate(content.get("options", {}))
    except ValidationError as error:
        raise _refusal(problems.field_problems(error, within="options")) from None


def _unprocessable(field: str, expected: str) -> ProblemError:
    return _refusal([problems.FieldProblem(field=field, expected=expected)])


def _refusal(errors: list[problems.FieldProblem]) -> ProblemError:
    return ProblemError(
        422,
        "invalid_request",
        "The body does not have the fields that the grader protocol asks for.",
        errors=errors,
    )
