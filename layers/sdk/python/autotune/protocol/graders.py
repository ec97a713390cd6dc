"""Graders on the wire."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.limits import (
    MAX_CALLBACK_TIMEOUT_SECONDS,
    MAX_CERTIFICATE_PINS,
    MAX_GRADER_CONCURRENCY,
    MAX_HEARTBEAT_SECONDS,
    MAX_HEDGE_AFTER_MS,
    MAX_LLM_OUTPUT_TOKENS,
    MAX_REGISTRATION_VALUES,
    MIN_CALLBACK_TIMEOUT_SECONDS,
    MIN_HEARTBEAT_SECONDS,
    MIN_HEDGE_AFTER_MS,
)
from autotune.protocol.llm_requests import ConnectionId
from autotune.protocol.rubrics import RubricConfiguration
from autotune.protocol.types import (
    Description,
    Name,
    RequestModel,
    RequestRate,
    ResponseModel,
    Timestamp,
    at_most,
)

GraderStatus = Literal["active", "degraded", "inactive"]
"""How a grader is, as probes and verification found it; it informs, and stops nothing.

``inactive`` is a grader that does not answer, or is not verified at its present endpoint.
"""

ProbeOutcome = Literal["healthy", "degraded", "failed"]
"""What a probe found: ``failed`` is everything but a signed answer that says one of the others."""

HealthReason = ReasonCode | Literal["grader_unhealthy", "grader_degraded"]
"""Why a probe was not ``healthy``; the last two are what the grader says of itself."""

StatusReason = (
    HealthReason
    | Literal["probes_passed", "verification_passed", "verification_failed", "endpoint_changed"]
)
"""Why a status changed."""
Visibility = Literal["private", "public"]

GraderKind = Literal["http", "builtin", "human", "rubric"]
"""Who judges: a process at an endpoint, Autotune itself, people, or a language model."""


Concurrency = Annotated[int, Field(ge=1, le=MAX_GRADER_CONCURRENCY, strict=True)]
HedgeDelay = Annotated[int, Field(ge=MIN_HEDGE_AFTER_MS, le=MAX_HEDGE_AFTER_MS, strict=True)]


class GraderLimits(ResponseModel):
    """What a grader can bear, all its callers together; what is left out is not limited.

    A request is one call, single or batch: ``max_concurrency`` at the same time,
    ``requests_per_second`` evenly spaced. With ``hedge_after_ms`` a call without an answer by then
    is made once more, where the other two allow it, and the first good answer counts.
    """

    max_concurrency: Concurrency | None = None
    requests_per_second: RequestRate | None = None
    hedge_after_ms: HedgeDelay | None = None


class AsyncSettings(ResponseModel):
    """How long a grader that answers 202 may take; of no effect unless it ``supports_async``.

    ``timeout_seconds`` run from the request. With ``heartbeat_seconds`` the grader has to give a
    sign of life at least that often. A callback that does not come in time ends as
    ``callback_timeout``.
    """

    timeout_seconds: Annotated[
        int, Field(ge=MIN_CALLBACK_TIMEOUT_SECONDS, le=MAX_CALLBACK_TIMEOUT_SECONDS, strict=True)
    ] = 86_400
    heartbeat_seconds: (
        Annotated[int, Field(ge=MIN_HEARTBEAT_SECONDS, le=MAX_HEARTBEAT_SECONDS, strict=True)]
        | None
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

DeclaredAsyncSettings = Annotated[AsyncSettings, _only_known(AsyncSettings, "asyncSettings")]
"""Settings for late answers that an owner makes, without unknown fields."""

MaxTokens = Annotated[int, Field(ge=1, le=MAX_LLM_OUTPUT_TOKENS, strict=True)]
"""Most tokens of a model's answer."""

Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]

Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 of a certificate in DER: 64 lower-case hexadecimal digits."""


def _lifted_by_null(value: Any) -> Any:
    return [] if value is None else value


CertificatePins = Annotated[
    Annotated[
        list[Fingerprint], Field(max_length=MAX_CERTIFICATE_PINS), at_most(MAX_CERTIFICATE_PINS)
    ]
    | None,
    BeforeValidator(_lifted_by_null),
]
"""The certificates that a grader may have, besides being valid: ``null`` or none for any."""


class RegisterGraderRequest(RequestModel):
    """A grader's address and promises, or what it computes.

    ``endpoint``, of graders of kind ``http`` alone, is the HTTPS base URL below which ``/score``,
    ``/score/batch`` and ``/health`` lie. A ``builtin`` grader has a configuration instead: either
    ``builtin``, or ``openai`` with the JSON of a grader of OpenAI's. Of a ``rubric`` grader a
    language model judges: it has ``rubric``, or ``openai`` with ``connection_id`` for where the
    model is called, and ``max_tokens`` for the longest answer.
    A ``private`` grader serves its owner's organisation, a ``public`` one every organisation.
    ``share_reasoning`` lets trainers see the grader's reasoning; without it none is kept.
    ``certificate_sha256`` holds the fingerprint of its TLS certificate, and of the next one while
    it is renewed: nothing is sent to a holder of another.
    """

    most_values: ClassVar[int] = MAX_REGISTRATION_VALUES

    name: Name
    kind: GraderKind = "http"
    endpoint: Endpoint | None = None
    builtin: BuiltinConfiguration | None = None
    openai: dict[str, Any] | None = None
    rubric: RubricConfiguration | None = None
    connection_id: ConnectionId | None = None
    max_tokens: MaxTokens | None = None
    certificate_sha256: CertificatePins = None
    description: Description = ""
    capabilities: DeclaredCapabilities = Field(default_factory=GraderCapabilities)
    limits: DeclaredLimits = Field(default_factory=GraderLimits)
    async_settings: DeclaredAsyncSettings = Field(default_factory=AsyncSettings)
    visibility: Visibility = "private"
    share_reasoning: bool = False


class UpdateGraderRequest(RequestModel):
    """Fields to change; a changed ``endpoint`` has to be verified again before it is used.

    ``capabilities``, ``limits``, ``async_settings`` and ``certificate_sha256`` are replaced as a
    whole: empty limits lift them, and so does an empty list of certificates, or null. Another
    ``builtin``, ``rubric`` or ``openai`` is another version, at once.
    """

    most_values: ClassVar[int] = MAX_REGISTRATION_VALUES

    name: Name | None = None
    endpoint: Endpoint | None = None
    builtin: BuiltinConfiguration | None = None
    openai: dict[str, Any] | None = None
    rubric: RubricConfiguration | None = None
    connection_id: ConnectionId | None = None
    max_tokens: MaxTokens | None = None
    certificate_sha256: CertificatePins = None
    description: Description | None = None
    capabilities: DeclaredCapabilities | None = None
    limits: DeclaredLimits | None = None
    async_settings: DeclaredAsyncSettings | None = None
    visibility: Visibility | None = None
    share_reasoning: bool | None = None


class Grader(ResponseModel):
    """A registered grader.

    Its owner's organisation alone sees ``endpoint``, certificates, configuration and
    ``previous_secret_until``: until then the secret before the last rotation is valid, too.
    ``calibrated`` is of rubric graders alone: whether its calibration is of this version and these
    parameters, and its lower end reaches the threshold.
    """

    id: str
    owner: str
    name: str
    kind: GraderKind = "http"
    description: str
    endpoint: str | None = None
    builtin: dict[str, Any] | None = None
    rubric: dict[str, Any] | None = None
    calibrated: bool | None = None
    certificate_sha256: list[str] | None = None
    capabilities: GraderCapabilities
    limits: GraderLimits = Field(default_factory=GraderLimits)
    async_settings: AsyncSettings = Field(default_factory=AsyncSettings)
    visibility: Visibility
    share_reasoning: bool
    status: GraderStatus
    status_changed_at: Timestamp | None = None
    version: str | None
    verified_at: Timestamp | None
    previous_secret_until: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp


class GraderResponse(ResponseModel):
    """One grader."""

    grader: Grader


class GraderCredentials(ResponseModel):
    """``shared_secret`` is shown this once; it cannot be read again."""

    grader_id: str
    shared_secret: str


class GraderSecretResponse(ResponseModel):
    """A grader with its new secret; the one before is valid until ``previous_secret_until``."""

    grader: Grader
    credentials: GraderCredentials


class RegisterGraderResponse(ResponseModel):
    """The new grader and, where it is of kind ``http``, the secret that its owner puts into it."""

    grader: Grader
    credentials: GraderCredentials | None = None


class GraderList(ResponseModel):
    """A page of the graders of the caller's organisation, oldest first."""

    graders: list[Grader]
    next_token: str | None = None


class GraderStatusChange(ResponseModel):
    """Data of the event ``grader.status_changed``."""

    grader_id: str
    previous_status: GraderStatus
    current_status: GraderStatus
    reason: StatusReason


class GraderVersionChange(ResponseModel):
    """Data of the event ``grader.version_changed``: what is submitted from now on names it."""

    grader_id: str
    previous_version: str
    current_version: str


class CalibrationSuspended(ResponseModel):
    """Data of the event ``grader.calibration_suspended``: fresh labels speak against a calibration.

    Attributes:
        model: the model that was measured.
        labels: fresh labels that were looked at together.
        hits: those of them that are within one level of the judge's.
        predicted: the share of hits that the calibration predicts.
        probability: how likely so few hits are, or fewer, if it held.
    """

    grader_id: str
    grader_version: str
    model: str
    labels: int
    hits: int
    predicted: float
    probability: float


class VerificationCheck(ResponseModel):
    """One thing that verification tried; ``reason_code`` says what was wrong."""

    name: str
    passed: bool
    reason_code: str | None = None


class VerifyGraderResponse(ResponseModel):
    """What verification found; the grader is ``active`` only if every check passed.

    A grader without an endpoint is verified without a check.
    """

    grader: Grader
    verified: bool
    checks: list[VerificationCheck]
