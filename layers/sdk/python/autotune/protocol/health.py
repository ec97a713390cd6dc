"""How graders are, on the wire: status, probes and circuit."""

from typing import Literal

from autotune.protocol.graders import GraderStatus, HealthReason, ProbeOutcome
from autotune.protocol.types import ResponseModel, Timestamp


class GraderProbe(ResponseModel):
    """One ``GET /health`` by Autotune; ``reason_code`` says why it was not ``healthy``."""

    probed_at: Timestamp
    outcome: ProbeOutcome
    latency_ms: int
    reason_code: HealthReason | None = None
    version: str | None = None


CircuitState = Literal["closed", "open", "half-open"]
"""``closed``, calls pass; ``open``, none does; ``half-open``, one run at a time sends a probe."""


class GraderCircuit(ResponseModel):
    """A grader's circuit breaker.

    ``open_until`` is there while no call passes; ``last_failed_at`` is when a call last found the
    grader down within a day, and ``last_answered_at`` when it last answered: while nothing fails,
    that is not kept.
    """

    state: CircuitState
    open_until: Timestamp | None = None
    last_failed_at: Timestamp | None = None
    last_answered_at: Timestamp | None = None


class GraderHealth(ResponseModel):
    """How a grader is, and what that is founded on.

    ``probed`` is False for a grader that is not verified at its present endpoint: it is left alone.
    ``consecutive_healthy`` and ``consecutive_failed`` count the latest probes in a row. ``circuit``
    is there for a grader with an endpoint. ``next_turn_at`` is there while runs wait behind its
    limits: when a turn begins that is reserved now.
    """

    grader_id: str
    status: GraderStatus
    status_changed_at: Timestamp | None
    probed: bool
    last_probe: GraderProbe | None = None
    consecutive_healthy: int = 0
    consecutive_failed: int = 0
    circuit: GraderCircuit | None = None
    next_turn_at: Timestamp | None = None


class GraderHealthResponse(ResponseModel):
    """The health of one grader."""

    health: GraderHealth
