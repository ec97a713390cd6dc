"""Graders on the wire."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.limits import (
    MAX_GRADER_CONCURRENCY,
    MAX_GRADER_REQUESTS_PER_SECOND,
    MAX_HEDGE_AFTER_MS,
    MIN_GRADER_REQUESTS_PER_SECOND,
    MIN_HEDGE_AFTER_MS,
)
from autotune.protocol.types import (
    Description,
    Name,
    RequestModel,
    ResponseModel,
    Timestamp,
)

GraderStatus = Literal["active", "degraded", "inactive"]
Visibility = Literal["private", "public"]


class GraderLimits(ResponseModel):
    """What a grader can bear, all its callers together; what is left out is not limited.

    A request is one call, single or batch: ``max_concurrency`` at the same time,
    ``requests_per_second`` evenly spaced. With ``hedge_after_ms`` a call without an answer by then
    is made once more, where the other two allow it, and the first good answer counts.
    """

    max_concurrency: Annotated[int, Field(ge=1, le=MAX_GRADER_CONCURRENCY, strict=True)] | None = (
        None
    )
    requests_per_second: (
        Annotated[
            float,
            Field(
                ge=MIN_GRADER_REQUESTS_PER_SECOND,
                le=MAX_GRADER_REQUESTS_PER_SECOND,
                allow_inf_nan=False,
                strict=True,
            ),
        ]
        | None
    ) = None
    hedge_after_ms: (
        Annotated[int, Field(ge=MIN_HEDGE_AFTER_MS, le=MAX_HEDGE_AFTER_MS, strict=True)] | None
    ) = None


def _only_known(model: type[BaseModel], what: str) -> BeforeValidator:
    """Refuse fields that the model does not have: unlike in an answer, they are mistakes here."""
    fields = model.model_fields
    known = set(fields) | {field.alias for field in fields.values()}

    def check(value: Any) -> Any:
        if isinstance(value, Mapping) and (
            unknown := sorted(ascii(name) for name in set(value) - known)
        ):
            raise ValueError(f"unknown {what}: {', '.join(unknown)}")
        return value

    return BeforeValidator(check)


DeclaredCapabilities = Annotated[
    GraderCapabilities, _only_known(GraderCapabilities, "capabilities")
]
"""Capabilities that an owner declares: unlike a grader's own answer, without unknown fields."""

DeclaredLimits = Annotated[GraderLimits, _only_known(GraderLimits, "limits")]
"""Limits that an owner sets, without unknown fields."""

Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class RegisterGraderRequest(RequestModel):
    """A grader's address and promises.

    ``endpoint`` is the HTTPS base URL below which ``/score``, ``/score/batch`` and ``/health`` lie.
    A ``private`` grader serves its owner's organisation, a ``public`` one every organisation.
    ``share_reasoning`` lets trainers see the grader's reasoning; without it none is kept.
    """

    name: Name
    endpoint: Endpoint
    description: Description = ""
    capabilities: DeclaredCapabilities = GraderCapabilities()
    limits: DeclaredLimits = GraderLimits()
    visibility: Visibility = "private"
    share_reasoning: bool = False


class UpdateGraderRequest(RequestModel):
    """Fields to change; a changed ``endpoint`` has to be verified again before it is used.

    ``capabilities`` and ``limits`` are replaced as a whole: empty limits lift them.
    """

    name: Name | None = None
    endpoint: Endpoint | None = None
    description: Description | None = None
    capabilities: DeclaredCapabilities | None = None
    limits: DeclaredLimits | None = None
    visibility: Visibility | None = None
    share_reasoning: bool | None = None


class Grader(ResponseModel):
    """A registered grader. ``endpoint`` is shown to the owner's organisation only."""

    id: str
    owner: str
    name: str
    description: str
    endpoint: str | None
    capabilities: GraderCapabilities
    limits: GraderLimits = GraderLimits()
    visibility: Visibility
    share_reasoning: bool
    status: GraderStatus
    version: str | None
    verified_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class GraderResponse(ResponseModel):
    """One grader."""

    grader: Grader


class GraderCredentials(ResponseModel):
    """``shared_secret`` is shown this once; it cannot be read again."""

    grader_id: str
    shared_secret: str


class RegisterGraderResponse(ResponseModel):
    """The new grader and the secret that its owner puts into it."""

    grader: Grader
    credentials: GraderCredentials


class GraderList(ResponseModel):
    """A page of the graders of the caller's organisation, oldest first."""

    graders: list[Grader]
    next_token: str | None = None


class VerificationCheck(ResponseModel):
    """One thing that verification tried; ``reason_code`` says what was wrong."""

    name: str
    passed: bool
    reason_code: str | None = None


class VerifyGraderResponse(ResponseModel):
    """What verification found; the grader is ``active`` only if every check passed."""

    grader: Grader
    verified: bool
    checks: list[VerificationCheck]
