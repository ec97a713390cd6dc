"""The manifest of an export: the contents of its parts, and counts of what is left out."""

from collections.abc import Iterable
from datetime import UTC, datetime

from autotune.protocol.exports import ExportManifest, ExportRequest, ManifestPart
from autotune_platform.exports.models import Export, StoredFile
from autotune_platform.exports.statistics import Summary


def manifest_of(
    export: Export, *, parts: Iterable[StoredFile], summaries: Iterable[Summary]
) -> ExportManifest:
    """Return the manifest of an export whose parts are all written."""
    total = Summary()
    for summary in summaries:
        total.merge(summary)
    return ExportManifest(
        export_id=export.id,
        exported_at=datetime.now(UTC),
        as_of=export.as_of,
        request=ExportRequest.model_validate(export.request.model_dump()),
        task_ids=sorted(total.task_ids),
        model_ids=sorted(total.model_ids),
        ids_truncated=total.truncated,
        total_records=total.records,
        score_distribution=total.scores.distribution(),
        counts=total.counts(),
        parts=[
            ManifestPart(name=part.name, sha256=part.sha256, bytes=part.bytes, records=part.records)
            for part in parts
        ],
    )
