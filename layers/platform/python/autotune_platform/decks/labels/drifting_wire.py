"""What is published of a grader, and how fresh labels speak of it, as callers see it."""

from autotune.protocol.deck_publishing import (
    FreshLabels,
    PublishedCalibration,
    ShownCalibration,
)
from autotune.protocol.levels import Calibration
from autotune_platform.decks.labels.drifting import Looked
from autotune_platform.decks.models import DeckGrader


def published_on_wire(grader: DeckGrader, looked: Looked | None) -> PublishedCalibration | None:
    """Return what tasks score by; None where nothing is published."""
    published = grader.published
    if published is None:
        return None
    return PublishedCalibration(
        grader_id=published.grader_id,
        version=published.version,
        is_current=published.version == grader.version,
        calibration=calibration_on_wire(published.calibration),
        uncalibrated_because=published.because,
        fresh=looked
        and FreshLabels(
            labels=looked.found.n,
            hits=looked.found.hits,
            predicted=looked.found.predicted,
            looks=looked.looks,
        ),
    )


def calibration_on_wire(calibration: Calibration | None) -> ShownCalibration | None:
    """Return a calibration as its grader keeps it."""
    if calibration is None:
        return None
    return ShownCalibration.model_validate(calibration.model_dump())
