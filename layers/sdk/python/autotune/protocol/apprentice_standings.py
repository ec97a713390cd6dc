"""Where versions of the apprentice's small models stand, on the wire."""

from typing import Literal

from autotune.protocol.types import ResponseModel, Timestamp

ApprenticeStage = Literal["out", "shadow", "canary", "serves"]
ApprenticeTrend = Literal["improving", "declining", "stable"]
ApprenticeSamplingReason = Literal[
    "not_graduated", "stale", "below_coaching", "near_alarm", "coverage", "decay", "floor"
]


class ApprenticeAgreement(ResponseModel):
    """How far a version agrees with the paid model, since its last alarm.

    Attributes:
        pairs: answers of both that chance chose to compare.
        mean: of their scores; None without pairs.
        bound: the mean agreement is above this, however often one looks, with a probability of
            ``confidence``, unless it changed since the first of these pairs.
        confidence: one less the reciprocal of ``evidence_needed``. The bound is at the threshold
            where ``evidence`` is at what is needed.
        evidence: how much speaks for the version; more than 1e12 is shown as that.
        evidence_needed: how much it takes to graduate.
    """

    pairs: int
    mean: float | None
    bound: float
    confidence: float
    evidence: float
    evidence_needed: float


class ApprenticeWindow(ResponseModel):
    """The last pairs of a version. They say how much is checked, and decide nothing.

    Attributes:
        pairs: how many there are, of at most ``windowSize``.
        mean: of their scores.
        bound: Wilson's lower bound of it, which is not valid for who looks again and again.
        slope: by how much scores rise in a hundred pairs.
        has_drift: three windows, each half of the one before, fell one after the other.
        has_shift: the last window fell by more than ``trendSensitivity``.
        is_stale: fewer than twenty pairs are young enough.
    """

    pairs: int
    mean: float | None
    bound: float | None
    slope: float | None
    trend: ApprenticeTrend
    has_drift: bool
    has_shift: bool
    is_stale: bool


class ApprenticeSampling(ResponseModel):
    """Which share of a version's answers is checked, and why that many."""

    rate: float
    reason: ApprenticeSamplingReason


class ApprenticeCoverage(ResponseModel):
    """How many inputs a version behind a gate is sure of. It never decides who answers.

    Attributes:
        confidence: how sure it has to be, 0 to 1.
        promised: the share of the hold-out's inputs of which it was.
        least: the share below which inputs are others than before; lower once an alarm is over.
        inputs: how many it was asked since its last alarm began or was over.
        share: of how many of them it was sure; None without any.
        alarm_level: how much speaks for an alarm, which is raised at ``alarm_at``.
        alarms: how many there were.
        alarmed_at: when the last one was.
        checked_until: so many pairs the version is to have, with all its answers checked, before
            an alarm is over; None where none is on.
    """

    confidence: float
    promised: float
    least: float
    inputs: int
    share: float | None
    alarm_level: float
    alarm_at: float
    alarms: int
    alarmed_at: Timestamp | None = None
    checked_until: int | None = None


class ApprenticeCanary(ResponseModel):
    """How far a version has come that has graduated, before it serves.

    Attributes:
        share: of all inputs, that it answers now; all of its answers are checked.
        step: which share that is, from 1.
        steps: how many there are.
        pairs: checked answers of this step.
        pairs_needed: how many it takes to its end; after a day one is enough.
        since: when the step began.
        is_automatic: whether the next share, and serving, come by themselves; without ``training``
            a person promotes.
    """

    share: float
    step: int
    steps: int
    pairs: int
    pairs_needed: int
    since: Timestamp
    is_automatic: bool


class ApprenticeVersionStanding(ResponseModel):
    """Where a version of the small model stands.

    Attributes:
        number: of the version.
        stage: ``shadow`` answers nobody, ``canary`` some callers, ``serves`` all that it can.
        pairs: all that count, also those before its last alarm. Behind a gate, which is where
            ``coverage`` is not None, they are of what callers have: answers that it is sure of.
        graduated_at: the pair at which it graduated, since its last alarm.
        canary: how far it has come since; None but in stage ``canary``.
        alarm_level: how much speaks for an alarm, which is raised at ``alarm_at``.
        alarms: how many there were.
        alarmed_at: the pair of the last one.
        emergency_at: the pair at which it was out for good.
    """

    number: int
    stage: ApprenticeStage
    pairs: int
    agreement: ApprenticeAgreement
    window: ApprenticeWindow
    sampling: ApprenticeSampling
    graduated_at: int | None
    canary: ApprenticeCanary | None = None
    alarm_level: float
    alarm_at: int
    alarms: int
    alarmed_at: int | None
    emergency_at: int | None
    coverage: ApprenticeCoverage | None = None


class ApprenticeThresholds(ResponseModel):
    """By which agreement what happens."""

    graduation: float
    coaching: float
    emergency: float
