"""What audit keeps."""

from autotune_platform.audit.repository import RETENTION
from autotune_platform.storage.data_holders import DataHolder, Holding

_WHY = "the log has to outlast what it is about"

HOLDER = DataHolder(
    "audit",
    [
        Holding(
            place="table audit",
            key="org_*#* / *",
            what="calls, decisions and events of budgets and small models: who, what, outcome, ids",
            of="completion",
            days=RETENTION.days,
            retained=_WHY,
        ),
        Holding(
            place="bucket audit",
            key="audit/organization=org_*/day=*/part-*",
            what="the same, a day in each folder",
            of="completion",
            kept="until an operator deletes it",
            retained=_WHY,
        ),
        Holding(
            place="table audit",
            key="export / progress",
            what="how far the daily export has come",
            of="installation",
            retained="the export goes on from there",
        ),
    ],
)
