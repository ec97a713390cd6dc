"""What the ledger needs of a provider's batch jobs, whoever the provider is.

A provider's part asks and reads; it decides nothing. It keeps no state, raises nothing for what the
other side does, and never tries anything a second time: that is for those who call it, which have
stored beforehand what they are about to do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.usage import JobUsage

MOST_FOUND = 100
"""Jobs that may have come of one creation: of a list that has more, the rest is not read."""


@dataclass(frozen=True)
class Framing:
    """What stands around the rows of an input: JSON Lines, unless said otherwise.

    Attributes:
        before: what the input begins with, for a model.
        between: what stands between two rows.
        after: what the input ends with.
    """

    before: Callable[[str], bytes] = lambda _: b""
    between: bytes = b"\n"
    after: bytes = b"\n"


@dataclass(frozen=True)
class Body:
    """An input, to be read as often as it is sent, in constant memory."""

    length: int
    parts: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class Job:
    """A batch as its provider knows it.

    Attributes:
        nonce: names this creation among all others, where the provider keeps a name of ours.
        begun_at: just before its creation was asked for.
        input_file: the provider's name of the uploaded input, where it was uploaded.
        job_id: the provider's name of the job, once it is known.
    """

    batch_id: str
    nonce: str
    model: str
    rows: int
    begun_at: datetime
    input_file: str | None = None
    job_id: str | None = None


@dataclass(frozen=True)
class Created:
    """A job is there."""

    job_id: str


@dataclass(frozen=True)
class NotCreated:
    """The provider refused a job: it is certain that there is none.

    Attributes:
        refusal: ``rate_limited`` where the same may be tried again later, also where the input
            cannot be seen yet; ``account`` where somebody has to see to the connection; else
            ``rejected``.
        lines: the rows that it was refused for, from 0 in the order of the input, with what was
            said of each; empty where none is named.
    """

    refusal: Refusal
    lines: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unclear:
    """Nobody knows whether there is a job now: it may have been created, and no answer came."""

    message: str


Creation = Created | NotCreated | Unclear


@dataclass(frozen=True)
class Results:
    """A place where results of a job are; ``place`` is for the provider's own part to read."""

    place: str


@dataclass(frozen=True)
class Reported:
    """What a provider tells of a job beside how far it is; None where it does not.

    Attributes:
        model: that its rows are asked of.
        completed: how many rows have an answer so far.
        failed: how many will have none.
        total: how many rows there are.
    """

    model: str | None = None
    completed: int | None = None
    failed: int | None = None
    total: int | None = None


def reported(
    model: str | None, *, completed: int | None, failed: int | None, total: int | None
) -> Reported:
    """Return what a provider tells, without counts that cannot be: zeros, or more than all."""
    if not total or completed is None or failed is None or completed + failed > total:
        return Reported(model)
    return Reported(model, completed, failed, total)


@dataclass(frozen=True)
class Running:
    """A job that has not ended, or whose results are not there yet; they may still come."""

    reported: Reported = field(default=Reported(), compare=False)


@dataclass(frozen=True)
class Missing:
    """The job cannot be seen: it proves nothing, because some are seen late, or by one key only."""


@dataclass(frozen=True)
class Ended:
    """A job that nothing more becomes of.

    Attributes:
        how: ``failed`` only where it ran nothing; expired and canceled jobs may have results.
        results: all places where there are results, those of errors too.
        succeeded: how many rows the provider says were answered; None where it says nothing, or
            what it says cannot be (zeros in all counts of a job that had rows).
        total: how many rows it says there were; None likewise.
        refusal: why it failed, as of ``NotCreated``.
        lines: rows that it failed for, as of ``NotCreated``.
        usage: what all rows used together, where the provider tells.
        cost_nano_usd: what it says that the job cost.
        reported: what it tells beside that.
    """

    how: Literal["completed", "failed", "expired", "canceled"]
    results: Sequence[Results] = ()
    succeeded: int | None = None
    total: int | None = None
    refusal: Refusal | None = None
    lines: Mapping[int, str] = field(default_factory=dict)
    usage: JobUsage | None = None
    cost_nano_usd: int | None = None
    reported: Reported = field(default=Reported(), compare=False)


Look = Running | Missing | Ended
"""What a job is at a look."""


@dataclass(frozen=True)
class Line:
    """One result: whose it is, and what came of it.

    An outcome ``batch_expired`` or ``canceled`` is a row that the job did not come to.
    """

    custom_id: str
    outcome: Outcome


class JobProvider(Protocol):
    """One provider's batch jobs.

    Every method that takes a ``Session`` makes one request, or as many as it says.

    Attributes:
        framing: how rows make an input.
        is_named: whether a creation is known from all others by its nonce. Where it cannot, the
            ledger has one unclear creation at a time in a workspace.
        expires_by_itself: whether its jobs expire: one that is overdue all the same is asked to
            end. Others take as long as they take.
    """

    framing: Framing
    is_named: bool
    expires_by_itself: bool

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return one row as it stands in the input: JSON without line breaks."""

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:
        """Send the input to the provider's files; return its name there.

        A provider that takes the input with the creation returns an empty text, and sends nothing.
        """

    def create(self, session: Session, job: Job, body: Body) -> Creation:
        """Ask for the job, exactly once, with the uploaded input or with the body."""

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs that may have come of a creation, by the provider's name of each.

        It reads all pages from five minutes before ``begun_at`` to fifteen after, and compares what
        the provider tells: the nonce, or time, model and rows where there is no name. Filters of
        the list are asked for and not relied on. Where more than ``MOST_FOUND`` may be it, it
        returns some of them, and more than these.
        """

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far a job is; a refusal where that could not be asked."""

    def cancel(self, session: Session, job: Job) -> Refusal | None:
        """Ask for a job to end; None once it was asked, or where it has ended or cannot be."""

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:
        """Yield results as JSON Lines, in parts of any size, in constant memory.

        Raises:
            FetchError: they could not be read to their end.
        """

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what a line of the results means; None where it is none.

        It raises nothing, whatever stands there; a line that cannot be assigned is None.

        Args:
            key: what was sent as key; an echo of it is in nothing that is returned.
        """

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:
        """Delete what of the batch is left at the provider: input and results. Gone is fine."""
