"""What answers of the served ledger are made of: things, pages of them, and refusals."""

from datetime import UTC, datetime
from typing import Any, NoReturn

from autotune.protocol.problems import Problem
from tests.support.http_faults import Answer, Received


class RefusedError(Exception):
    """An answer that is a problem."""

    def __init__(self, status: int, code: str, detail: str, errors: Any = ()) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.errors = status, code, detail, errors


def refuse_row(place: int, field: str, expected: str, detail: str | None = None) -> NoReturn:
    """Refuse a request of several, in the words of the API."""
    path = f"requests[{place}].{field}"
    problem = {"field": path, "expected": expected}
    raise RefusedError(422, "invalid_request", f"{path}: {detail or expected}", [problem])


def now() -> str:
    return datetime.now(UTC).isoformat()


def of(things: dict[str, Any], thing_id: str, *, make: bool = False) -> dict[str, Any]:
    if make:
        things[thing_id] = {"id": thing_id}
    if thing_id not in things:
        raise RefusedError(404, "not_found", f"no {thing_id}")
    found: dict[str, Any] = things[thing_id]
    return found


def page(things: list[Any], query: dict[str, str]) -> tuple[list[Any], str | None]:
    start, size = int(query.get("nextToken", 0)), int(query.get("limit", 50))
    more = str(start + size) if start + size < len(things) else None
    return things[start : start + size], more


def checked(model: Any, document: dict[str, Any]) -> Any:
    """Return what of a document is the model's, so that no answer has what the API lacks."""
    return model.model_validate(document).model_dump(mode="json", by_alias=True)


def problem(error: RefusedError, request: Received) -> Answer:
    problem = Problem(
        type=f"urn:autotune:problem:{error.code}",
        title=error.code,
        status=error.status,
        code=error.code,
        detail=error.detail,
        request_id=request.headers["x-autotune-request-id"],
        errors=error.errors,
    )
    content = problem.model_dump_json(by_alias=True, exclude_none=True).encode()
    return Answer(error.status, content, {"content-type": "application/problem+json"})
