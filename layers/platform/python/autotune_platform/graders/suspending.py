"""Suspending what was measured of a rubric grader: it scores no more until it is measured anew."""

from autotune.protocol.graders import CalibrationSuspended
from autotune.protocol.ids import derived_id
from autotune.protocol.levels import Calibration, CalibrationSuspension
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.repository import GraderRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.webhooks.models import Event

_ATTEMPTS = 4
_TYPE = "grader.calibration_suspended"


class CalibrationKeeper:
    """Marks calibrations of the registry's graders."""

    def __init__(self, graders: GraderRepository, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._graders = graders
        self._clock = clock

    def suspend(
        self,
        organization_id: str,
        grader_id: str,
        calibration: Calibration,
        suspension: CalibrationSuspension,
    ) -> bool:
        """Suspend a calibration, with an event; again, or where another is there, changes nothing.

        Returns:
            Whether it was suspended now.

        Raises:
            UnavailableError: others keep changing the grader.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self._graders.get(grader_id)
            if before is None or before.organization_id != organization_id:
                return False
            if not _holds(before, calibration):
                return False
            after = self._with(before, suspension)
            if self._graders.replace_with(before, after, events=[_event(after, calibration)]):
                return True
        raise UnavailableError("others are changing this grader", retry_after_seconds=1)

    def _with(self, grader: Grader, suspension: CalibrationSuspension) -> Grader:
        assert grader.rubric is not None, "it has a calibration"
        answer = grader.rubric["answer"]
        said = suspension.model_dump(mode="json", by_alias=True)
        calibration = {**answer["calibration"], "suspended": said}
        rubric = {**grader.rubric, "answer": {**answer, "calibration": calibration}}
        return grader.model_copy(update={"rubric": rubric, "updated_at": self._clock.now()})


def _holds(grader: Grader, calibration: Calibration) -> bool:
    """Return whether a grader has a calibration, measured whenever, that is not suspended."""
    stored = ((grader.rubric or {}).get("answer") or {}).get("calibration")
    if stored is None:
        return False
    found = Calibration.model_validate(stored)
    return found.suspended is None and _timeless(found) == _timeless(calibration)


def _timeless(calibration: Calibration) -> object:
    return calibration.model_dump(exclude={"measured_at", "suspended"})


def _event(grader: Grader, calibration: Calibration) -> Event:
    assert grader.rubric is not None, "it has a calibration"
    suspension = grader.rubric["answer"]["calibration"]["suspended"]
    change = CalibrationSuspended(
        grader_id=grader.id,
        grader_version=calibration.grader_version,
        model=calibration.model,
        **{name: suspension[name] for name in ("labels", "hits", "predicted", "probability")},
    )
    return Event(
        id=derived_id("evt", _TYPE, grader.id, grader.updated_at.isoformat()),
        type="grader.calibration_suspended",
        organization_id=grader.organization_id,
        occurred_at=grader.updated_at,
        data=change.model_dump(mode="json", by_alias=True),
    )
