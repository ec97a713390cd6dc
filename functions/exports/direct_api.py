"""A small set of scores as training data, in the answer itself."""

import base64
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from autotune.protocol.exports import CreateExportRequest, ExportFormat
from autotune.protocol.scores import ScoreFilters
from autotune_platform.exports.direct import DIRECT_MEDIA_TYPES
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import with_score_filters
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.wiring.exports import DirectExportParts

_RECORDS: OpenAPIResponse = {
    "description": "Training records",
    "content": {
        media_type: {"schema": {"type": "string", "format": "binary"}}
        for media_type in DIRECT_MEDIA_TYPES.values()
    },
}


@cache
def parts() -> DirectExportParts:
    """Return what this process is put together from."""
    return DirectExportParts(ContentEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/scores/export", tags=["scores"], responses={200: _RECORDS})
@with_score_filters
def export_scores(
    *,
    format: Annotated[ExportFormat, Query()] = "jsonl",  # noqa: A002 - as the parameter is called
    filters: ScoreFilters,
) -> Response[str]:
    """Return scored completions as training records: JSON lines, Parquet or TFRecord.

    For at most 1,000 verdicts and 4 MB; ``POST /api/v1/exports`` has no such limits, and more
    shapes. What has no score, or whose text is gone, is left out.
    """
    exported = parts().direct_export.export(
        app.caller, CreateExportRequest(format=format, filters=filters)
    )
    response = Response(
        status_code=200,
        content_type=exported.media_type,
        body=base64.b64encode(exported.body).decode(),
    )
    response.base64_encoded = True  # API Gateway decodes it
    return response


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
