"""Verdicts and opinions, and what is known of the completions that they are about."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from pydantic import ConfigDict

from autotune.protocol.completions import DecidedBy, ReasonCode, VerdictCounts, VerdictState
from autotune.protocol.grading import ScoreDimension
from autotune.protocol.ids import derived_id, is_id
from autotune.protocol.levels import Uncalibrated
from autotune.protocol.limits import MAX_DEADLINE_SECONDS
from autotune_platform.runtime.frozen_model import FrozenModel


class VerdictKey(NamedTuple):
    """What finds one verdict: a completion, a grader with its version, and the generation."""

    completion_id: str
    grader_id: str
    grader_version: str
    generation: int = 0

    @property
    def parts(self) -> list[str]:
        """What ids of things are derived from that follow from the verdict."""
        later = [str(self.generation)] if self.generation else []
        return [self.completion_id, self.grader_id, self.grader_version, *later]


class OfTask(FrozenModel):
    """What a completion and its verdicts were submitted for.

    ``grader_id`` and ``grader_version`` are the panel's where several graders judge together.
    ``index`` is the completion's position in its batch, and ``alone`` whether nothing else is in
    it; lists of scores know neither. ``generation`` is 0 at first, and higher each time that the
    completion is scored again.
    """

    organization_id: str
    batch_id: str
    index: int = 0
    alone: bool = False
    task_id: str
    model_id: str
    grader_id: str
    grader_version: str
    generation: int = 0


class CompletionHeader(OfTask):
    """What is known of a completion beside its text.

    ``uncalibrated`` is what the task says of judges that are not calibrated; None where it says
    nothing. From ``expires_at`` on the text is gone; None keeps it until it is deleted.
    ``rescored_at`` is when its latest generation was requested, None of the first.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    id: str
    share_identity: bool
    uncalibrated: Uncalibrated | None = None
    deadline_seconds: int = MAX_DEADLINE_SECONDS
    expires_at: datetime | None = None
    created_at: datetime
    rescored_at: datetime | None = None

    @property
    def started_at(self) -> datetime:
        """When its latest generation was requested: by its submission, or to score it again."""
        return self.rescored_at or self.created_at

    @property
    def deadline(self) -> datetime:
        """When it ends ``failed`` if it has no verdict by then; fixed for each generation."""
        return self.started_at + timedelta(seconds=self.deadline_seconds)


def overdue(completions: Iterable[CompletionHeader], at: datetime) -> list[str]:
    """Return the ids of completions whose deadline has passed by then."""
    return [completion.id for completion in completions if completion.deadline <= at]


def completion_id_of(batch_id: str, index: int) -> str:
    """Return the id of the completion at a position of a batch, from 0."""
    return derived_id("cmp", batch_id, str(index))


class Opinion(FrozenModel):
    """What one member of a panel made of a completion, as the verdict lists it.

    ``grader_version`` is the one that answered, else the one that was registered.
    """

    grader_id: str
    grader_version: str
    weight: float
    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    reason_code: ReasonCode | None = None
    source_request_id: str | None = None


class Verdict(OfTask):
    """What became of one generation of a completion at one grader: written once, never changed.

    ``grader_version`` is the version registered when the completion was submitted, and part of the
    verdict's key; ``reported_version`` is what the grader itself reported when it answered, and
    ``grader_latency_ms`` how long that answer took: that of a whole batch, if it came in one.

    The verdict of a panel has its id and version in their place, and what it was made of in
    ``opinions``. A member's own opinion is of the same kind, and has the panel's id in
    ``panel_id``, which nothing else has.

    ``run_id`` is the run that decided, which those of panels, of people and of cancellations lack.
    What ended with ``deadline_exceeded`` has what its last attempt failed with in
    ``last_reason_code``. What a language model judged
    has the request that it was read from in ``source_request_id``, whatever it came to.
    """

    completion_id: str
    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    dimensions: list[ScoreDimension] | None = None
    reasoning: str | None = None
    reason_code: ReasonCode | None = None
    last_reason_code: ReasonCode | None = None
    run_id: str | None = None
    source_request_id: str | None = None
    reported_version: str | None = None
    grader_latency_ms: int | None = None
    attempts: int = 0
    panel_id: str | None = None
    opinions: list[Opinion] | None = None
    decided_by: DecidedBy = "grader"
    review_id: str | None = None
    submitted_at: datetime
    decided_at: datetime

    @property
    def key(self) -> VerdictKey:
        """What finds it."""
        return VerdictKey(self.completion_id, self.grader_id, self.grader_version, self.generation)

    @property
    def is_opinion(self) -> bool:
        """Whether it is only a member's opinion in a panel."""
        return self.panel_id is not None

    @property
    def is_of_panel(self) -> bool:
        """Whether several graders, or a person, came to it together."""
        return is_id("pnl", self.grader_id)

    @property
    def answered_version(self) -> str:
        """The version that the grader reported, else the one that was registered."""
        return self.reported_version or self.grader_version


class Unlisted(FrozenModel):
    """What lists of scores lack of a verdict."""

    dimensions: list[ScoreDimension] | None = None
    source_request_id: str | None = None


def counts_of(verdicts: Iterable[Verdict], *, expected: int) -> VerdictCounts:
    """Return how many verdicts there are by state, of as many as are expected."""
    states = [verdict.state for verdict in verdicts]
    return VerdictCounts(
        expected=expected,
        scored=states.count("scored"),
        abstained=states.count("abstained"),
        failed=states.count("failed"),
        canceled=states.count("canceled"),
        pending=expected - len(states),
    )


class OfGrader(Protocol):
    """Whatever is graded by one grader, for itself or in a panel."""

    @property
    def grader_id(self) -> str:
        """The grader that is asked."""

    @property
    def grader_version(self) -> str:
        """Its version when the completions were submitted."""

    @property
    def panel_id(self) -> str | None:
        """The panel that it is a member of; None where its judgement is the verdict."""

    @property
    def generation(self) -> int:
        """Which generation of the completions is judged: 0 at first, more when scored again."""


class GradedBy(FrozenModel):
    """Which grader judges, for itself or in a panel; an ``OfGrader``."""

    grader_id: str
    grader_version: str
    panel_id: str | None = None
    generation: int = 0
