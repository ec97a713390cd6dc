"""Imports: files of requests to language models, uploaded by link and taken in line by line.

Its own function, because its links let upload files.
"""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.llm_imports import (
    CreateLlmImportRequest,
    LlmImportList,
    LlmImportResponse,
    LlmImportState,
)
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.ledger import ImportApiEnvironment
from autotune_platform.wiring.ledger_imports import ImportApiParts


@cache
def parts() -> ImportApiParts:
    """Return what this process is put together from."""
    return ImportApiParts(ImportApiEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/llm-imports", status_code=202, tags=["language models"])
def create_import(
    body: CreateLlmImportRequest, idempotency_key: IdempotencyKey = None
) -> Response[LlmImportResponse]:
    """Make an import, and get a link to upload its file of up to 200 MB; then start it.

    The link holds an hour, and takes a file of just as many ``bytes``; reading the import renews
    it. An import that was not started within a day cannot be any more.
    """
    made, replayed = parts().imports.create(app.caller, body, idempotency_key=idempotency_key)
    app.made(llm_import_id=made.id)
    headers: dict[str, str | list[str]] = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(
        status_code=202,
        content_type="application/json",
        body=LlmImportResponse(llm_import=made),
        headers=headers,
    )


@app.get("/api/v1/llm-imports", tags=["language models"])
def list_imports(
    state: Annotated[LlmImportState | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> LlmImportList:
    """List the organisation's imports of the last 7 days, the youngest first, without their links.

    With ``state`` a page may be short: ``nextToken`` leads on where there is more.
    """
    app.require_known_parameters()
    found, token = parts().imports.page(app.caller, state=state, limit=limit, next_token=next_token)
    return LlmImportList(imports=found, next_token=token)


@app.get("/api/v1/llm-imports/<llm_import_id>", tags=["language models"])
def read_import(llm_import_id: str) -> LlmImportResponse:
    """Return an import: how far it is, and which lines were rejected; it is there for 7 days."""
    return LlmImportResponse(llm_import=parts().imports.get(app.caller, llm_import_id))


@app.post("/api/v1/llm-imports/<llm_import_id>/start", status_code=202, tags=["language models"])
def start_import(llm_import_id: str) -> LlmImportResponse:
    """Start an import whose file is uploaded; starting it again changes nothing.

    It enqueues up to 500 requests at a time. Where the organisation has as many under way as it
    may, it waits and goes on by itself, for up to 5 days. Up to 5 imports are under way at once.
    """
    return LlmImportResponse(llm_import=parts().imports.start(app.caller, llm_import_id))


@app.delete("/api/v1/llm-imports/<llm_import_id>", status_code=204, tags=["language models"])
def delete_import(llm_import_id: str) -> None:
    """Stop an import and delete its files; requests that it has enqueued stay."""
    parts().imports.delete(app.caller, llm_import_id)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
