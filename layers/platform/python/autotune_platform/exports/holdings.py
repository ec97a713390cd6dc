"""What exports keep."""

from autotune.protocol.limits import EXPORT_DAYS
from autotune_platform.storage.data_holders import DataHolder, Holding

_GOES = "it goes by itself, and holds no text"

HOLDER = DataHolder(
    "exports",
    [
        Holding(
            place="bucket exports",
            key="exports/org_*/exp_*/*",
            what="files of exports: copies of texts, verdicts",
            of="completion",
            has_text=True,
            days=EXPORT_DAYS,
            kept=f"{EXPORT_DAYS} days from when a file is written",
            erased="`DELETE /api/v1/exports/{id}`",
        ),
        Holding(
            place="table registry",
            key="exp_* / *",
            what="exports: filters, progress, names of files, notes of open ones",
            days=EXPORT_DAYS,
            retained=_GOES,
        ),
        Holding(
            place="executions",
            key="ExportScores",
            what="ids of exports, as executions hand them on",
            days=90,
            kept="90 days after its end, by Step Functions",
            retained=_GOES,
        ),
    ],
)
