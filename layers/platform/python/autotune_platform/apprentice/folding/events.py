"""What happens to a version, as it is published and kept: that it serves, or no longer may."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from autotune.protocol.apprentice_events import (
    ApprenticeAlarm,
    ApprenticeCanaryMoved,
    ModelPromoted,
)
from autotune.protocol.apprentice_versions import ApprenticeVersionChangeKind
from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.folding.advancing import Fallen, Moved, MoveKind, Raised
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.versions.changes import VersionChange
from autotune_platform.webhooks.models import Event

_OF_CANARY: Mapping[MoveKind, ApprenticeVersionChangeKind] = {
    "began": "canary_began",
    "advanced": "canary_advanced",
    "rolled_back": "canary_rolled_back",
}


class Happened(NamedTuple):
    """What happened to a version: the event to be published, and what is kept of it."""

    event: Event
    change: VersionChange


def alarm_raised(task: ApprenticeTask, after: StoredEvidence, raised: Raised) -> Happened:
    """Return the event ``apprentice.alarm`` of an alarm or an emergency."""
    return _alarm(
        after,
        ApprenticeAlarm(
            task_id=task.id,
            task_name=task.name,
            version=after.version,
            kind=raised.kind,
            sequence=raised.pair.sequence,
            mean_agreement=after.figures(raised.pair.at).mean,
            raised_at=datetime.fromtimestamp(raised.pair.at, UTC),
        ),
    )


def coverage_fallen(task: ApprenticeTask, after: StoredEvidence, fallen: Fallen) -> Happened:
    """Return the event ``apprentice.alarm`` of a version that is sure of fewer inputs."""
    return _alarm(
        after,
        ApprenticeAlarm(
            task_id=task.id,
            task_name=task.name,
            version=after.version,
            kind="coverage",
            sequence=fallen.sequence,
            mean_agreement=after.figures(fallen.at).mean,
            coverage=fallen.share,
            least_coverage=fallen.least,
            raised_at=datetime.fromtimestamp(fallen.at, UTC),
        ),
    )


def _alarm(after: StoredEvidence, data: ApprenticeAlarm) -> Happened:
    place = (data.task_id, str(data.version), data.kind, str(data.sequence))
    event = Event(
        id=derived_id("evt", "apprentice.alarm", *place),
        type="apprentice.alarm",
        organization_id=after.organization_id,
        occurred_at=data.raised_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
    change = _change(after, event, data.kind, sequence=data.sequence, share=data.coverage)
    return Happened(event, change)


def canary_moved(
    task: ApprenticeTask, after: StoredEvidence, moved: Moved, shares: Shares
) -> Happened:
    """Return the event ``apprentice.canary`` of a version whose share is another one."""
    data = ApprenticeCanaryMoved(
        task_id=task.id,
        task_name=task.name,
        version=after.version,
        change=moved.kind,
        step=min(moved.canary.steps, len(shares.each) - 1) + 1,
        steps=len(shares.each),
        share=0 if moved.kind == "rolled_back" else shares.of(moved.canary),
        sequence=moved.sequence,
        mean_agreement=after.figures(moved.at).mean,
        changed_at=datetime.fromtimestamp(moved.at, UTC),
    )
    place = (task.id, str(after.version), moved.kind, str(moved.sequence))
    event = Event(
        id=derived_id("evt", "apprentice.canary", *place),
        type="apprentice.canary",
        organization_id=task.organization_id,
        occurred_at=data.changed_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
    kind = _OF_CANARY[moved.kind]
    change = _change(after, event, kind, sequence=data.sequence, share=data.share)
    return Happened(event, change)


def model_promoted(
    task: ApprenticeTask, stored: StoredEvidence, evidence: Evidence, *, at: datetime
) -> Happened:
    """Return the event ``model.promoted`` of a version that serves from now on."""
    data = ModelPromoted(
        task_id=task.id,
        task_name=task.name,
        version=stored.version,
        pairs=evidence.pairs,
        mean_agreement=stored.figures(at.timestamp()).mean,
        promoted_at=at,
    )
    place = (task.id, str(stored.version), str(stored.told_promotion))
    event = Event(
        id=derived_id("evt", "model.promoted", *place),
        type="model.promoted",
        organization_id=task.organization_id,
        occurred_at=at,
        data=data.model_dump(mode="json", by_alias=True),
    )
    return Happened(event, _change(stored, event, "promoted", sequence=evidence.sequence))


def _change(
    stored: StoredEvidence,
    event: Event,
    kind: ApprenticeVersionChangeKind,
    *,
    sequence: int,
    share: float | None = None,
) -> VersionChange:
    """Return what is kept of an event."""
    return VersionChange(
        task_id=stored.task_id,
        organization_id=stored.organization_id,
        version=stored.version,
        sequence=sequence,
        kind=kind,
        at=event.occurred_at,
        mean_agreement=event.data["meanAgreement"],
        share=share,
    )
