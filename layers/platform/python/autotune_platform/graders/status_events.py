"""Telling a grader's organisation that its status changed."""

from autotune.protocol.graders import GraderStatusChange, StatusReason
from autotune.protocol.ids import derived_id
from autotune_platform.gateway.models import Grader
from autotune_platform.webhooks.models import Event

_TYPE = "grader.status_changed"


def status_event(before: Grader, after: Grader, reason: StatusReason) -> Event | None:
    """Return the event of a change, None where the status stays."""
    if before.status == after.status:
        return None
    change = GraderStatusChange(
        grader_id=after.id,
        previous_status=before.status,
        current_status=after.status,
        reason=reason,
    )
    return Event(
        # A grader is changed once from each state that it was ever in.
        id=derived_id("evt", _TYPE, before.id, before.updated_at.isoformat()),
        type=_TYPE,
        organization_id=after.organization_id,
        occurred_at=after.updated_at,
        data=change.model_dump(mode="json", by_alias=True),
    )
