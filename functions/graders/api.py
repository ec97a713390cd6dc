"""Graders."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.graders import Grader as WireGrader
from autotune.protocol.graders import (
    GraderCredentials,
    GraderList,
    GraderResponse,
    RegisterGraderRequest,
    RegisterGraderResponse,
    UpdateGraderRequest,
    VerifyGraderResponse,
)
from autotune.protocol.limits import MAX_PAGE_ITEMS
from autotune_platform.environment import GatewayEnvironment
from autotune_platform.graders.addresses import check_endpoint
from autotune_platform.graders.models import Grader
from autotune_platform.graders.service import GraderService
from autotune_platform.graders.verification import GraderVerification
from autotune_platform.http.api import Api

app = Api()


@cache
def environment() -> GatewayEnvironment:
    """Return what this function is told."""
    return GatewayEnvironment.parse()


@cache
def service() -> GraderService:
    """Return the process's registry of graders."""
    return GraderService.from_environment(environment())


@cache
def verification() -> GraderVerification:
    """Return the process's verification."""
    return GraderVerification.from_environment(environment())


@app.post("/api/v1/graders", status_code=201, tags=["graders"])
@app.needs("graders", "create")
def register_grader(body: RegisterGraderRequest) -> RegisterGraderResponse:
    """Register a grader; its shared secret is shown this once."""
    app.require("graders", "create")
    check_endpoint(body.endpoint, admit_private=environment().admit_private_addresses)
    grader, secret = service().register(app.caller, body)
    return RegisterGraderResponse(
        grader=_on_wire(grader),
        credentials=GraderCredentials(grader_id=grader.id, shared_secret=secret),
    )


@app.get("/api/v1/graders", tags=["graders"])
def list_graders(
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE_ITEMS)] = 50,
    next_token: Annotated[str | None, Query(alias="nextToken")] = None,
) -> GraderList:
    """List the graders of the caller's organisation, oldest first."""
    scope = app.require("graders", "read")
    graders, token = service().list(app.caller, scope, limit=limit, next_token=next_token)
    return GraderList(graders=[_on_wire(grader) for grader in graders], next_token=token)


@app.get("/api/v1/graders/<grader_id>", tags=["graders"])
def read_grader(grader_id: str) -> GraderResponse:
    """Return a grader of the organisation, or a public one without its endpoint."""
    scope = app.require("graders", "read")
    return GraderResponse(grader=_on_wire(service().get_visible(app.caller, scope, grader_id)))


@app.patch("/api/v1/graders/<grader_id>", tags=["graders"])
@app.needs("graders", "update")
def update_grader(grader_id: str, body: UpdateGraderRequest) -> GraderResponse:
    """Change a grader; a new endpoint has to be verified again."""
    scope = app.require("graders", "update")
    if body.endpoint is not None:
        check_endpoint(body.endpoint, admit_private=environment().admit_private_addresses)
    return GraderResponse(grader=_on_wire(service().update(app.caller, scope, grader_id, body)))


@app.delete("/api/v1/graders/<grader_id>", status_code=204, tags=["graders"])
def delete_grader(grader_id: str) -> None:
    """Delete a grader; what still waits for it ends ``failed``."""
    scope = app.require("graders", "delete")
    service().delete(app.caller, scope, grader_id)


@app.post("/api/v1/graders/<grader_id>/verify", tags=["graders"])
def verify_grader(grader_id: str) -> VerifyGraderResponse:
    """Call the grader and see that it signs its answers and refuses strangers."""
    scope = app.require("graders", "update")
    grader, checks = verification().verify(service().get_managed(app.caller, scope, grader_id))
    return VerifyGraderResponse(
        grader=_on_wire(grader), verified=grader.verified_at is not None, checks=checks
    )


def _on_wire(grader: Grader) -> WireGrader:
    owned = grader.organization_id == app.caller.organization_id
    return WireGrader(
        owner=grader.organization_id,
        **grader.model_dump(
            exclude={"organization_id", "principal_id", "secret_version", "endpoint"}
        ),
        endpoint=grader.endpoint if owned else None,
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
