"""Events of a version: that it serves, and that it no longer may."""

from datetime import UTC, datetime

from autotune.protocol.apprentice_events import (
    ApprenticeAlarm,
    ApprenticeCanaryMoved,
    ModelPromoted,
)
from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.folding.advancing import Fallen, Moved, Raised
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.webhooks.models import Event


def alarm_raised(task: ApprenticeTask, after: StoredEvidence, raised: Raised) -> Event:
    """Return the event ``apprentice.alarm`` of an alarm or an emergency."""
    return _alarm(
        task,
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


def coverage_fallen(task: ApprenticeTask, after: StoredEvidence, fallen: Fallen) -> Event:
    """Return the event ``apprentice.alarm`` of a version that is sure of fewer inputs."""
    return _alarm(
        task,
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


def _alarm(task: ApprenticeTask, data: ApprenticeAlarm) -> Event:
    place = (task.id, str(data.version), data.kind, str(data.sequence))
    return Event(
        id=derived_id("evt", "apprentice.alarm", *place),
        type="apprentice.alarm",
        organization_id=task.organization_id,
        occurred_at=data.raised_at,
        data=data.model_dump(mode="json", by_alias=True),
    )


def canary_moved(
    task: ApprenticeTask, after: StoredEvidence, moved: Moved, shares: Shares
) -> Event:
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
    return Event(
        id=derived_id("evt", "apprentice.canary", *place),
        type="apprentice.canary",
        organization_id=task.organization_id,
        occurred_at=data.changed_at,
        data=data.model_dump(mode="json", by_alias=True),
    )


def model_promoted(
    task: ApprenticeTask, stored: StoredEvidence, evidence: Evidence, *, at: datetime
) -> Event:
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
    return Event(
        id=derived_id("evt", "model.promoted", *place),
        type="model.promoted",
        organization_id=task.organization_id,
        occurred_at=at,
        data=data.model_dump(mode="json", by_alias=True),
    )
