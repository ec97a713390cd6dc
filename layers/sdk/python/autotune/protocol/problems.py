"""Errors on the wire: RFC 9457 problem details, ``application/problem+json``."""

from autotune.protocol.types import ResponseModel

PROBLEM_CONTENT_TYPE = "application/problem+json"


class FieldProblem(ResponseModel):
    """One field at fault; ``field`` is its path, such as ``completions[3].taskId``."""

    field: str
    expected: str


class LimitProblem(ResponseModel):
    """The limit that was met; ``actual`` where it could be told."""

    name: str
    maximum: int
    unit: str
    actual: int | None = None


class Problem(ResponseModel):
    """RFC 9457 problem details with Autotune's extension members.

    ``code`` is the stable word for programs, ``detail`` is for people, ``retry_after_seconds`` says
    when the same request may succeed.
    """

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: list[FieldProblem] = []
    limit: LimitProblem | None = None
    retry_after_seconds: int | None = None
