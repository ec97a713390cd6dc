"""Exports: scores as training data."""

from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import Response

from autotune.protocol.exports import (
    CreateExportRequest,
    ExportDetails,
    ExportList,
    ExportResponse,
)
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.exports import ExportStartEnvironment
from autotune_platform.wiring.exports import ExportApiParts


@cache
def parts() -> ExportApiParts:
    """Return what this process is put together from."""
    return ExportApiParts(ExportStartEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/exports", status_code=202, tags=["exports"])
def create_export(
    body: CreateExportRequest, idempotency_key: IdempotencyKey = None
) -> Response[ExportResponse]:
    """Start an export of the verdicts that were decided before now; 202 means that it is durable.

    Its files are there for 7 days. Whoever has a link to one needs no key, for 15 minutes. An
    organisation has at most 5 exports under way; one more gets 429.
    """
    created = parts().exports.create(app.caller, body, idempotency_key=idempotency_key)
    app.made(export_id=created.export.id)
    headers: dict[str, str | list[str]] = {}
    if created.replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(
        status_code=202,
        content_type="application/json",
        body=ExportResponse(export=ExportDetails(**dict(created.export))),
        headers=headers,
    )


@app.get("/api/v1/exports", tags=["exports"])
def list_exports(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> ExportList:
    """List the organisation's exports, oldest first, without links to their files."""
    exports, token = parts().exports.list(app.caller, limit=limit, next_token=next_token)
    return ExportList(exports=exports, next_token=token)


@app.get("/api/v1/exports/<export_id>", tags=["exports"])
def read_export(export_id: str) -> ExportResponse:
    """Return an export; once it is completed, with links to its files that hold 15 minutes."""
    return ExportResponse(export=parts().exports.get(app.caller, export_id))


@app.delete("/api/v1/exports/<export_id>", status_code=204, tags=["exports"])
def delete_export(export_id: str) -> None:
    """Delete an export's files, and stop it where it runs; it is ``canceled`` from then on."""
    parts().exports.delete(app.caller, export_id)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
