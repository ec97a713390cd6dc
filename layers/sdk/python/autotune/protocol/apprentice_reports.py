"""What becomes of a task of the apprentice, on the wire: its status and its history.

Money is in billionths of a US dollar. Days are those of UTC.
"""

from datetime import date
from typing import Literal

from autotune.protocol.apprentice_spend import ApprenticeBudgetUse, ApprenticeSpend
from autotune.protocol.apprentice_standings import ApprenticeThresholds, ApprenticeVersionStanding
from autotune.protocol.apprentice_trainings import ApprenticeTrainingWaitReason
from autotune.protocol.types import ResponseModel, Timestamp

ApprenticeAlertKind = Literal[
    "emergency",
    "alarm",
    "silent",
    "unhosted",
    "coverage",
    "halted",
    "budget",
    "unpriced",
    "refused",
    "failed",
    "unmonitored",
    "unchecked",
    "stale",
    "refolding",
    "shift",
    "drift",
    "graduated",
]


class ApprenticeCounts(ResponseModel):
    """Runs by what became of them, and what they cost.

    ``begun`` is ``local``, ``remote``, ``refused``, ``failed`` and ``pending`` together.

    Attributes:
        escalated: the small model would have answered but was unsure, and the paid one did.
        asked: a version was asked; one in shadow beside it does not count.
        silent: those of them in which it gave no answer: a time-out, or nobody there.
        gate_sure: inputs of which the version that was asked was as sure as its gate asks for.
        gate_unsure: those of which it was not, whoever answered.
        unmonitored: the budget kept the paid model from being asked, and a version that has
            graduated answered.
        checks_done: answers of the small model that the paid one checked.
        checks_skipped: those that the budget had no room for.
        checks_failed: those where the paid model did not answer.
        cost_answers_nano_usd: of answers that callers have from the paid model.
        cost_checks_nano_usd: of checks, and of what taught a version in shadow.
        cost_lost_nano_usd: of calls that gave nobody an answer.
        cost_additional_nano_usd: of additional models.
        cost_training_nano_usd: of jobs that train, on the day on which their end was noted.
        cost_hosting_nano_usd: of instances that SageMaker hosts versions on.
        hosting_seconds: how long such instances were there.
        hosting_unpriced_seconds: how long of it their price was not known; none of that is in
            ``cost_hosting_nano_usd``.
    """

    begun: int = 0
    local: int = 0
    remote: int = 0
    refused: int = 0
    failed: int = 0
    pending: int = 0
    escalated: int = 0
    asked: int = 0
    silent: int = 0
    gate_sure: int = 0
    gate_unsure: int = 0
    unmonitored: int = 0
    examples: int = 0
    checks_done: int = 0
    checks_skipped: int = 0
    checks_failed: int = 0
    cost_answers_nano_usd: int = 0
    cost_checks_nano_usd: int = 0
    cost_lost_nano_usd: int = 0
    cost_additional_nano_usd: int = 0
    cost_training_nano_usd: int = 0
    cost_hosting_nano_usd: int = 0
    hosting_seconds: int = 0
    hosting_unpriced_seconds: int = 0


class ApprenticeVersionDay(ResponseModel):
    """A version's pairs of a day.

    Attributes:
        mean: of their scores.
        wilson_bound: Wilson's lower bound of the day's mean, at the task's ``alpha``.
        bound: what the version's ``agreement.bound`` was after the day's last pair; None where it
            was not noted.
    """

    version: int
    pairs: int
    mean: float
    wilson_bound: float
    bound: float | None


class ApprenticeDay(ResponseModel):
    """What became of the runs of a day."""

    day: date
    counts: ApprenticeCounts
    versions: list[ApprenticeVersionDay]


class ApprenticeSavings(ResponseModel):
    """What the small model's answers saved, net of checks, additional models, training and hosting.

    What ``linear`` costs is no part of it: functions train it for some cents at most, and answer
    for less than a thousandth of a cent. Nor is a server of one's own. All but counts may be None:
    then it cannot be said.

    Attributes:
        local_answers: so many the paid model did not have to give.
        paid_answers: those from which the mean cost is known, under the present definition.
        mean_cost_nano_usd: what one of them cost.
        avoided_nano_usd: what the local answers would have cost at that mean.
        checks_nano_usd: what checks cost.
        additional_nano_usd: what additional models cost.
        training_nano_usd: what jobs that train cost.
        hosting_nano_usd: what instances cost that SageMaker hosts versions on; None where the price
            of one is not known, and then there is no net either.
        hosting_seconds: how long such instances were there.
        hosting_unpriced_seconds: how long of it their price was not known.
        net_nano_usd: what was avoided, less all of these.
        low_nano_usd: the end of a 95 % interval; None with fewer than 100 paid answers.
        high_nano_usd: the other end.
    """

    local_answers: int
    paid_answers: int
    mean_cost_nano_usd: int | None
    avoided_nano_usd: int | None
    checks_nano_usd: int
    additional_nano_usd: int = 0
    training_nano_usd: int = 0
    hosting_nano_usd: int | None = 0
    hosting_seconds: int = 0
    hosting_unpriced_seconds: int = 0
    net_nano_usd: int | None
    low_nano_usd: int | None
    high_nano_usd: int | None


class ApprenticeAlert(ResponseModel):
    """What an operator should know now.

    Attributes:
        version: which it is about; None for the task.
        message: what it is, in words.
    """

    kind: ApprenticeAlertKind
    version: int | None = None
    message: str


class ApprenticeTrainingWait(ResponseModel):
    """Why a training does not begin that is due; it is looked at again every ten minutes.

    Attributes:
        reason: ``budget`` where ``training_monthly`` has no room for its job, ``versions`` where
            the task has as many versions as it may, ``trainings`` where it had as many of these,
            ``hosting`` where what the last one made is kept until it is hosted, or was beyond the
            account's quota.
        message: the same for people.
        until: when the month is over that has no room, or about when money is free that is set
            aside for a job of a training that has ended, or when that model is kept no longer; None
            where it takes somebody: another configuration, a higher quota, or a training of theirs.
    """

    reason: ApprenticeTrainingWaitReason
    message: str
    until: Timestamp | None = None


class ApprenticeNextTraining(ResponseModel):
    """When a training starts by itself.

    Attributes:
        examples_needed: how many there have to be; it starts within a minute then.
        cause: ``emergency`` where a version raised one since the last training, after which a batch
            of new examples is enough.
        running: number of the training that is under way; the next one waits for its end.
        waits: why it does not begin although there are examples enough.
    """

    examples_needed: int
    cause: Literal["examples", "emergency"]
    running: int | None
    waits: ApprenticeTrainingWait | None = None


class ApprenticeStatus(ResponseModel):
    """Where a task stands.

    Attributes:
        id: of the task.
        version: of its configuration.
        phase: 1 where the paid model alone is asked, 2 where both are, 3 where a version answers.
        serving: number of the version that answers callers.
        candidate: number of the latest one in shadow or canary.
        is_canary: whether that one answers a share of callers.
        canary: number of the version that does; a later one may be the candidate, in shadow.
        examples: answers of the paid model under the present definition, of ``examples_needed``.
        next_training: when the small model is trained again; None where nothing is trained here.
        versions: those under the present definition, the latest first.
        spend: what the present periods of the task's own budget have used.
        training_spend: what the present month of ``budgets.trainingMonthly`` has; None without it.
        today: the runs of this day.
        savings: of the last ``savings_days`` days.
    """

    id: str
    name: str
    description: str
    version: int
    definition_hash: str
    phase: Literal[1, 2, 3]
    serving: int | None
    candidate: int | None
    is_canary: bool
    canary: int | None = None
    examples: int
    examples_needed: int
    next_training: ApprenticeNextTraining | None = None
    thresholds: ApprenticeThresholds
    versions: list[ApprenticeVersionStanding]
    spend: ApprenticeSpend
    training_spend: ApprenticeBudgetUse | None = None
    today: ApprenticeCounts
    savings: ApprenticeSavings
    savings_days: int
    alerts: list[ApprenticeAlert]


class ApprenticeStatusResponse(ResponseModel):
    """A task's status."""

    status: ApprenticeStatus


class ApprenticeFieldAgreement(ResponseModel):
    """How often a field of the output was the same, of a version's pairs in the days of a report.

    Attributes:
        name: one of the task's ``matchFields``.
        mean: the share of pairs in which it was the same.
    """

    version: int
    name: str
    pairs: int
    mean: float


class ApprenticeGateFigures(ResponseModel):
    """What a gate did in the days of a report.

    Attributes:
        escalated: the share of answered runs that the paid model answered because the small one
            was unsure; None without any.
        coverage: the share of inputs of which the version that was asked was sure; None alike.
        agreement: mean agreement of local answers that chance chose to check; None alike.
    """

    escalated: float | None
    coverage: float | None
    agreement: float | None


class ApprenticeReport(ResponseModel):
    """What became of a task over some days, beside where it stands.

    Attributes:
        days: each with runs or costs, the earliest first. A run counts on the day on which it
            began.
        totals: of all of them.
        fields: by version, where the evaluator is ``structured_match``; the least agreed first.
        savings: of all of them.
        gate: None where ``local.gate`` is ``none``.
    """

    status: ApprenticeStatus
    first_day: date
    last_day: date
    days: list[ApprenticeDay]
    totals: ApprenticeCounts
    fields: list[ApprenticeFieldAgreement]
    savings: ApprenticeSavings
    gate: ApprenticeGateFigures | None = None


class ApprenticeReportResponse(ResponseModel):
    """A report."""

    report: ApprenticeReport


class ApprenticeReportSent(ResponseModel):
    """The event ``apprentice.report`` of a report: webhooks have its id as ``webhook-id``."""

    event_id: str
