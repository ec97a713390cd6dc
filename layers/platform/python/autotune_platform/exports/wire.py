"""Exports as the API returns them."""

from autotune.protocol.exports import Export as WireExport
from autotune.protocol.exports import ExportProgress, ExportRequest
from autotune_platform.exports.models import Export


def export_on_wire(export: Export) -> WireExport:
    """Return an export without links."""
    return WireExport(
        id=export.id,
        state=export.state,
        request=ExportRequest.model_validate(export.request.model_dump()),
        progress=ExportProgress(
            records_written=export.records, scanned=export.scanned, parts=export.parts
        ),
        error_code=export.error_code,
        limit=export.limit,
        as_of=export.as_of,
        created_at=export.created_at,
        completed_at=export.completed_at,
        expires_at=export.expires_at,
    )
