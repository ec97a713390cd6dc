"""Graders of decks in scoring, on the wire: what is published, and the task that all score in."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits, types
from autotune.protocol.levels import Uncalibrated
from autotune.protocol.tasks import Aggregation, DeadlineSeconds

UncalibratedBecause = Literal[
    "not_judged",
    "insufficient_labels",
    "other_prompt",
    "no_interval",
    "below_threshold",
    "drifted",
]
"""Why a judge that was published is not calibrated.

``not_judged``: it judged no sample of the held-out half that people rated. ``insufficient_labels``:
too few ratings. ``other_prompt``: ratings would do, but too many are of samples of another system
prompt than the deck's, with which the judge is asked. ``no_interval``: kappa is undefined, or has
no interval. ``below_threshold``: the lower end of kappa's interval is. ``drifted``: it was
calibrated, and fresh labels speak against it.
"""


class PublishedGrader(types.ResponseModel):
    """What of a deck's grader is published.

    Attributes:
        grader_id: the grader that tasks name.
        grader_version: its version there, which follows from all that it asks.
        version: the version of the deck's grader.
        deck_version: the version of the deck's system prompt.
        at: when it was published, or measured anew.
    """

    grader_id: str
    grader_version: str
    version: int
    deck_version: int
    at: types.Timestamp


class ShownCalibratedLevel(types.ResponseModel):
    """How often people agreed where a judge said this level."""

    level: int
    n: int
    hits: int


class ShownSuspension(types.ResponseModel):
    """Why a calibration counts no more.

    Attributes:
        labels: fresh labels that were looked at together.
        hits: those of them that are within one level of the judge's.
        predicted: the share of hits that the calibration predicts.
        probability: how likely so few hits are, or fewer, if it held.
    """

    at: types.Timestamp
    labels: int
    hits: int
    predicted: float
    probability: float


class ShownCalibration(types.ResponseModel):
    """How far a published judge agrees with people, as its grader keeps it.

    Attributes:
        look: which look at the labels it took: ``low`` has the level 0.05 / 2^look. Publishing by
            other labels than before takes one more. None where that was not counted.
        chose_version: how many of the labels are those by which an edit was taken that made this
            version: kappa on them is too high.
        suspended: why it counts no more, where fresh labels spoke against it.
    """

    grader_version: str
    provider: str
    model: str
    params_digest: str
    kappa: float
    low: float
    n: int
    threshold: float
    look: int | None = None
    chose_version: int = 0
    by_level: list[ShownCalibratedLevel]
    measured_at: types.Timestamp
    suspended: ShownSuspension | None = None


class FreshLabels(types.ResponseModel):
    """Labels that came since a calibration was published, which it is held against by twenties.

    Attributes:
        labels: of the twenty that are not full yet; of those that showed drift where they did.
        hits: those of them that are within one level of the judge's.
        predicted: the share of hits that the calibration predicts; null where there is no label.
        looks: how many times twenty were held against it, and passed.
    """

    labels: int
    hits: int
    predicted: float | None
    looks: int


class PublishedCalibration(types.ResponseModel):
    """What is published of a grader, and how far that is trusted.

    Attributes:
        grader_id: the grader that tasks name.
        version: of the deck's grader.
        is_current: whether that is the grader's current version.
        calibration: what was measured of its judge, where that was enough to say anything.
        uncalibrated_because: why it is not calibrated; null where it is.
        fresh: null where no calibration is published that labels could speak against.
    """

    grader_id: str
    version: int
    is_current: bool
    calibration: ShownCalibration | None = None
    uncalibrated_because: UncalibratedBecause | None = None
    fresh: FreshLabels | None = None


class CreateDeckTaskRequest(types.RequestModel):
    """A task in which every active grader of a deck scores that is published.

    Attributes:
        name: the deck's, where it is left out.
        quorum: how many have to score a completion; one where it is left out, because a grader
            abstains where its question does not apply.
        uncalibrated: as of any task.
    """

    name: types.Name | None = None
    aggregation: Aggregation = "mean"
    quorum: Annotated[int, Field(ge=1, le=limits.MAX_TASK_GRADERS, strict=True)] = 1
    deadline_seconds: DeadlineSeconds | None = None
    uncalibrated: Uncalibrated | None = None
