"""HTTP without a transport: what the core takes and gives, and the problems it can answer with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

from pydantic import BaseModel

from autotune.protocol.problems import PROBLEM_CONTENT_TYPE, FieldProblem, LimitProblem, Problem


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


@dataclass(kw_only=True, eq=False)
class ProblemError(Exception):
    """A request that is answered with a problem; ``detail`` goes outward, no text of the owner."""

    status: int
    code: str
    detail: str
    errors: Sequence[FieldProblem] = ()
    limit: LimitProblem | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.detail}"

    def to_response(self, request_id: str) -> HttpResponse:
        """Return the problem as ``application/problem+json`` (RFC 9457)."""
        problem = Problem(
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
        return response.with_headers({"content-type": PROBLEM_CONTENT_TYPE, **self.headers})
