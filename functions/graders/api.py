"""Graders."""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.graders import Grader as WireGrader
from autotune.protocol.graders import (
    GraderCredentials,
    GraderList,
    GraderResponse,
    GraderSecretResponse,
    RegisterGraderRequest,
    RegisterGraderResponse,
    UpdateGraderRequest,
    VerifyGraderResponse,
)
from autotune.protocol.grading import GraderVersion
from autotune.protocol.health import (
    GraderCircuit,
    GraderHealth,
    GraderHealthResponse,
    GraderProbe,
)
from autotune.protocol.statistics import GraderStats, GraderUsage, Month
from autotune.protocol.windows import PartWindow
from autotune_platform.access.service import permitted_scope
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.calibrating import calibration_of
from autotune_platform.graders.directory import manages
from autotune_platform.graders.health import Health
from autotune_platform.graders.kinds import connection_named
from autotune_platform.graders.verification import LONGEST_SECONDS
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.outbound.addresses import check_url
from autotune_platform.runtime.environment.graders import GraderApiEnvironment
from autotune_platform.wiring.grader_admin import GraderApiParts


@cache
def parts() -> GraderApiParts:
    """Return what this process is put together from."""
    return GraderApiParts(GraderApiEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/graders", status_code=201, tags=["graders"])
def register_grader(body: RegisterGraderRequest) -> RegisterGraderResponse:
    """Register a grader; the shared secret of one with an endpoint is shown this once."""
    if body.endpoint is not None:
        _check(body.endpoint)
    _check_connection(body)
    grader, secret = parts().grader_service.register(app.caller, body)
    app.made(grader_id=grader.id)
    return RegisterGraderResponse(
        grader=_on_wire(grader),
        credentials=GraderCredentials(grader_id=grader.id, shared_secret=secret)
        if secret is not None
        else None,
    )


@app.get("/api/v1/graders", tags=["graders"])
def list_graders(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> GraderList:
    """List the graders of the caller's organisation, oldest first."""
    graders, token = parts().grader_service.list(
        app.caller, app.scope, limit=limit, next_token=next_token
    )
    return GraderList(graders=[_on_wire(grader) for grader in graders], next_token=token)


@app.get("/api/v1/graders/<grader_id>", tags=["graders"])
def read_grader(grader_id: str) -> GraderResponse:
    """Return a grader of the organisation, or a public one without its endpoint."""
    return GraderResponse(
        grader=_on_wire(parts().grader_service.get_visible(app.caller, app.scope, grader_id))
    )


@app.get("/api/v1/graders/<grader_id>/stats", tags=["graders"])
def read_grader_stats(
    grader_id: str,
    version: Annotated[GraderVersion | None, Query()] = None,
    window: Annotated[PartWindow | None, Query()] = None,
) -> GraderStats:
    """Return how a grader does, of all versions or of one; of nothing yet, zeros and nulls.

    Only its own organisation learns it: from how the figures change, others could tell each score.
    With a window, the figures are of what it did for the caller's organisation in that time, and
    ``overTime`` has them by stretches of it: of an hour for a day, and of a day for more.
    """
    grader = parts().grader_service.get_managed(app.caller, app.scope, grader_id)
    if window is not None:
        return parts().window_statistics.of_grader(
            app.caller.organization_id, grader.id, window, version=version
        )
    return parts().statistics.stats(grader.id, version=version)


@app.get("/api/v1/graders/<grader_id>/usage", tags=["graders"])
def read_grader_usage(
    grader_id: str, month: Annotated[Month | None, Query()] = None
) -> GraderUsage:
    """Return how many verdicts a grader gave in a month (UTC), by default this one, to everybody.

    Only its owner learns it, and never who it was for.
    """
    grader = parts().grader_service.get_managed(app.caller, app.scope, grader_id)
    return parts().statistics.usage(grader.id, month or f"{parts().clock.now():%Y-%m}")


@app.patch("/api/v1/graders/<grader_id>", tags=["graders"])
def update_grader(grader_id: str, body: UpdateGraderRequest) -> GraderResponse:
    """Change a grader; a new endpoint has to be verified again, a configuration is used at once."""
    if body.endpoint is not None:
        _check(body.endpoint)
    _check_connection(body)
    return GraderResponse(
        grader=_on_wire(parts().grader_service.update(app.caller, app.scope, grader_id, body))
    )


@app.delete("/api/v1/graders/<grader_id>", status_code=204, tags=["graders"])
def delete_grader(grader_id: str) -> None:
    """Delete a grader; what still waits for it ends ``failed``."""
    parts().grader_service.delete(app.caller, app.scope, grader_id)


@app.post("/api/v1/graders/<grader_id>/verify", tags=["graders"])
def verify_grader(grader_id: str) -> VerifyGraderResponse:
    """Call the grader: see that it signs its answers, refuses strangers and scores a question."""
    found = parts().grader_service.get_managed(app.caller, app.scope, grader_id)
    with parts().waiting.verification(app.caller, LONGEST_SECONDS):
        grader, checks = parts().verification.verify(found)
    return VerifyGraderResponse(
        grader=_on_wire(grader), verified=grader.verified_at is not None, checks=checks
    )


@app.post("/api/v1/graders/<grader_id>/rotate-secret", tags=["graders"])
def rotate_grader_secret(grader_id: str) -> GraderSecretResponse:
    """Give a grader a new secret, shown this once; for 24 hours the one before is valid, too."""
    grader, secret = parts().grader_service.rotate_secret(app.caller, app.scope, grader_id)
    return GraderSecretResponse(
        grader=_on_wire(grader),
        credentials=GraderCredentials(grader_id=grader.id, shared_secret=secret),
    )


@app.get("/api/v1/graders/<grader_id>/health", tags=["graders"])
def read_grader_health(grader_id: str) -> GraderHealthResponse:
    """Return a grader's status, what it is founded on, and its circuit, to its organisation."""
    grader = parts().grader_service.get_managed(app.caller, app.scope, grader_id)
    health = _health_on_wire(grader, parts().grader_service.health(grader))
    if grader.is_called:
        turn = parts().budget_states.next_turn(grader.id)
        waited_for = _moment(turn) if turn > parts().clock.unix() else None
        health = health.model_copy(
            update={"circuit": _circuit_on_wire(grader.id), "next_turn_at": waited_for}
        )
    return GraderHealthResponse(health=health)


def _check(endpoint: str) -> None:
    admit_private = parts().environment.admit_private_addresses
    check_url(endpoint, field="endpoint", admit_private=admit_private)


def _check_connection(body: RegisterGraderRequest | UpdateGraderRequest) -> None:
    """Require that who has a model asked may ask it, at a connection of the organisation's."""
    if (named := connection_named(body)) is not None:
        permitted_scope(app.caller, "llm_requests", "create")
        connection_id, field = named
        parts().usable_connections.require(app.caller.organization_id, connection_id, field=field)


def _on_wire(grader: Grader) -> WireGrader:
    owned = manages(app.caller, app.scope, grader)
    return WireGrader(
        owner=grader.organization_id,
        **grader.model_dump(
            exclude={
                *("organization_id", "principal_id", "secret_version"),
                *("endpoint", "certificate_sha256", "builtin", "rubric", "previous_secret_until"),
            }
        ),
        endpoint=grader.endpoint if owned else None,
        # Its texts may hold the very answers that trainers' models are to find.
        builtin=grader.builtin if owned else None,
        rubric=grader.rubric if owned else None,
        calibrated=calibration_of(grader) is not None if owned and grader.rubric else None,
        previous_secret_until=grader.previous_secret_until if owned else None,
        # Public logs of certificates would lead from it to the endpoint.
        certificate_sha256=grader.certificate_sha256 if owned else None,
    )


def _health_on_wire(grader: Grader, health: Health | None) -> GraderHealth:
    status = GraderHealth(
        grader_id=grader.id,
        status=grader.status,
        status_changed_at=grader.status_changed_at,
        probed=health is not None,
    )
    if health is None:
        return status
    probe = health.last_probe
    return status.model_copy(
        update={
            "last_probe": GraderProbe.model_validate(probe.model_dump()) if probe else None,
            "consecutive_healthy": health.healthy,
            "consecutive_failed": health.failed,
        }
    )


def _circuit_on_wire(grader_id: str) -> GraderCircuit:
    circuit = parts().budget_states.circuit(grader_id)
    state = circuit.phase(parts().clock.unix())
    return GraderCircuit(
        state=state,
        open_until=_moment(circuit.open_until) if state == "open" else None,
        last_failed_at=_moment(circuit.failed_at),
        last_answered_at=_moment(circuit.passed_at),
    )


def _moment(unix: float) -> datetime | None:
    return datetime.fromtimestamp(unix, UTC) if unix else None


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
