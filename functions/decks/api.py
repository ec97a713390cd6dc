"""Decks, their versions, and their graders with theirs."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Path, Query

from autotune.protocol.deck_capture import DeckCaptureResponse, SetDeckCaptureRequest
from autotune.protocol.deck_publishing import CreateDeckTaskRequest
from autotune.protocol.deck_rubrics import (
    CreateDeckGraderRequest,
    CreateGraderVersionRequest,
    DeckGraderList,
    DeckGraderResponse,
    GraderVersionList,
    GraderVersionResponse,
    UpdateDeckGraderRequest,
)
from autotune.protocol.decks import (
    CreateDeckVersionRequest,
    DeckList,
    DeckResponse,
    DeckVersionList,
    DeckVersionResponse,
    UpdateDeckRequest,
)
from autotune.protocol.decks import DeckVersion as WireVersion
from autotune.protocol.limits import MAX_DECK_VERSIONS
from autotune.protocol.tasks import Task as WireTask
from autotune.protocol.tasks import TaskResponse
from autotune_platform.decks.deck_wire import deck_on_wire
from autotune_platform.decks.grader_wire import grader_on_wire, grader_version_on_wire
from autotune_platform.decks.models import DeckVersion
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.decks import DeckEnvironment
from autotune_platform.wiring.decks import DeckApiParts

VersionNumber = Annotated[int, Path(ge=1, le=MAX_DECK_VERSIONS)]
CandidateFilter = Annotated[bool | None, Query()]


@cache
def parts() -> DeckApiParts:
    """Return what this process is put together from."""
    return DeckApiParts(DeckEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/decks", tags=["decks"])
def list_decks(limit: PageSize = 50, next_token: NextToken = None) -> DeckList:
    """List the organisation's decks, oldest first, without their system prompts."""
    decks, token = parts().decks.list(app.caller, limit=limit, next_token=next_token)
    return DeckList(decks=[deck_on_wire(deck) for deck in decks], next_token=token)


@app.get("/api/v1/decks/<deck_id>", tags=["decks"])
def read_deck(deck_id: str) -> DeckResponse:
    """Return one deck."""
    return DeckResponse(deck=deck_on_wire(parts().decks.get(app.caller, deck_id)))


@app.patch("/api/v1/decks/<deck_id>", tags=["decks"])
def update_deck(deck_id: str, body: UpdateDeckRequest) -> DeckResponse:
    """Change a deck, or make another of its versions the current one."""
    return DeckResponse(deck=deck_on_wire(parts().decks.update(app.caller, deck_id, body)))


@app.delete("/api/v1/decks/<deck_id>", status_code=204, tags=["decks"])
def delete_deck(deck_id: str) -> None:
    """Delete a deck with its graders and samples; their texts are gone within minutes."""
    parts().decks.delete(app.caller, deck_id)


@app.post("/api/v1/decks/<deck_id>/versions", status_code=201, tags=["decks"])
def create_deck_version(deck_id: str, body: CreateDeckVersionRequest) -> DeckVersionResponse:
    """Add a version of a deck's system prompt, which becomes the current one."""
    version = parts().decks.add_version(app.caller, deck_id, body)
    return DeckVersionResponse(version=_version_on_wire(version))


@app.get("/api/v1/decks/<deck_id>/versions", tags=["decks"])
def list_deck_versions(
    deck_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> DeckVersionList:
    """List a deck's versions, newest first; a page has fewer where prompts are long."""
    versions, token = parts().decks.versions(
        app.caller, deck_id, limit=limit, next_token=next_token
    )
    return DeckVersionList(versions=[_version_on_wire(one) for one in versions], next_token=token)


@app.get("/api/v1/decks/<deck_id>/versions/<version>", tags=["decks"])
def read_deck_version(deck_id: str, version: VersionNumber) -> DeckVersionResponse:
    """Return one version of a deck."""
    found = parts().decks.version(app.caller, deck_id, version)
    return DeckVersionResponse(version=_version_on_wire(found))


@app.post("/api/v1/decks/<deck_id>/graders", status_code=201, tags=["decks"])
def create_deck_grader(deck_id: str, body: CreateDeckGraderRequest) -> DeckGraderResponse:
    """Make a grader of a deck; it grades nothing before it is activated."""
    grader = parts().deck_graders.create(app.caller, deck_id, body)
    app.made(deck_grader_id=grader.grader.id)
    return DeckGraderResponse(grader=grader_on_wire(grader))


@app.get("/api/v1/decks/<deck_id>/graders", tags=["decks"])
def list_deck_graders(deck_id: str) -> DeckGraderList:
    """List all graders of a deck, oldest first, each with its current version."""
    graders = parts().deck_graders.list(app.caller, deck_id)
    return DeckGraderList(graders=[grader_on_wire(grader) for grader in graders])


@app.get("/api/v1/decks/<deck_id>/graders/<deck_grader_id>", tags=["decks"])
def read_deck_grader(deck_id: str, deck_grader_id: str) -> DeckGraderResponse:
    """Return one grader of a deck with its current version."""
    grader = parts().deck_graders.get(app.caller, deck_id, deck_grader_id)
    return DeckGraderResponse(grader=grader_on_wire(grader))


@app.patch("/api/v1/decks/<deck_id>/graders/<deck_grader_id>", tags=["decks"])
def update_deck_grader(
    deck_id: str, deck_grader_id: str, body: UpdateDeckGraderRequest
) -> DeckGraderResponse:
    """Rename, activate or retire a grader, or make another of its versions the current one."""
    grader = parts().deck_graders.update(app.caller, deck_id, deck_grader_id, body)
    return DeckGraderResponse(grader=grader_on_wire(grader))


@app.delete("/api/v1/decks/<deck_id>/graders/<deck_grader_id>", status_code=204, tags=["decks"])
def delete_deck_grader(deck_id: str, deck_grader_id: str) -> None:
    """Delete a grader that was only proposed."""
    parts().deck_graders.delete(app.caller, deck_id, deck_grader_id)


@app.post(
    "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions", status_code=201, tags=["decks"]
)
def create_grader_version(
    deck_id: str, deck_grader_id: str, body: CreateGraderVersionRequest
) -> GraderVersionResponse:
    """Add a version of a grader, which becomes the current one."""
    version = parts().deck_graders.add_version(app.caller, deck_id, deck_grader_id, body)
    return GraderVersionResponse(version=grader_version_on_wire(version))


@app.get("/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions", tags=["decks"])
def list_grader_versions(
    deck_id: str,
    deck_grader_id: str,
    candidate: CandidateFilter = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> GraderVersionList:
    """List a grader's versions, newest first; a page has fewer where rubrics are long.

    ``candidate`` says whether those of edits are wanted that are not accepted, or the others.
    """
    app.require_known_parameters()
    versions, token = parts().deck_graders.versions(
        app.caller,
        deck_id,
        deck_grader_id,
        candidate=candidate,
        limit=limit,
        next_token=next_token,
    )
    on_wire = [grader_version_on_wire(one) for one in versions]
    return GraderVersionList(versions=on_wire, next_token=token)


@app.get("/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions/<version>", tags=["decks"])
def read_grader_version(
    deck_id: str, deck_grader_id: str, version: VersionNumber
) -> GraderVersionResponse:
    """Return one version of a grader."""
    found = parts().deck_graders.version(app.caller, deck_id, deck_grader_id, version)
    return GraderVersionResponse(version=grader_version_on_wire(found))


@app.post("/api/v1/decks/<deck_id>/task", status_code=201, tags=["decks"])
def create_deck_task(deck_id: str, body: CreateDeckTaskRequest) -> TaskResponse:
    """Make a task in which every active grader of a deck scores that is published."""
    task = parts().deck_panel.create_task(app.caller, deck_id, body)
    app.made(task_id=task.id)
    return TaskResponse(task=WireTask.model_validate(task, from_attributes=True))


def _version_on_wire(version: DeckVersion) -> WireVersion:
    return WireVersion.model_validate(version, from_attributes=True)


@app.get("/api/v1/deck-capture", tags=["decks"])
def read_capture() -> DeckCaptureResponse:
    """Return which chat completions are captured as samples; none are at first."""
    return DeckCaptureResponse(capture=parts().capture.get(app.caller))


@app.put("/api/v1/deck-capture", tags=["decks"])
def set_capture(body: SetDeckCaptureRequest) -> DeckCaptureResponse:
    """Set which chat completions are captured, and what is taken out of them; within a minute."""
    return DeckCaptureResponse(capture=parts().capture.set(app.caller, body))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
