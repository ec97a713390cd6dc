"""Export the audit log to S3, each hour what is due, or a day again for an operator."""

from datetime import date
from functools import cache
from typing import Any

from autotune_platform.runtime.environment.audit import AuditExportEnvironment
from autotune_platform.wiring.audit import AuditExportParts

# More than an organisation of a million calls a day takes.
_RESERVED_MILLISECONDS = 120_000


@cache
def parts() -> AuditExportParts:
    """Return what this process is put together from."""
    return AuditExportParts(AuditExportEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, int]:
    """Export what is due, or with ``{"day": "2026-11-21"}`` that day again.

    Raises:
        ExportBehindError: over two days are due.
        ValueError: the event's day is none that can be exported.
    """
    now = parts().clock.now()
    if "day" in event:
        return {
            "entries": parts().audit_export.export_again(date.fromisoformat(event["day"]), now=now)
        }
    entries = parts().audit_export.catch_up(
        now=now,
        has_time=lambda: context.get_remaining_time_in_millis() > _RESERVED_MILLISECONDS,
    )
    return {"entries": entries}
