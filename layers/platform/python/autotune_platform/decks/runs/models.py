"""Runs of decks as the platform stores them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from autotune.protocol.deck_results import DeckResultStatus
from autotune.protocol.deck_runs import DeckRunKind, DeckRunStatus, DeckRunStop, DeckRunWait
from autotune.protocol.deck_samples import Split
from autotune.protocol.limits import DECK_RUN_DAYS
from autotune_platform.decks.proposing.models import RunProposal
from autotune_platform.judging.rubric.level_prompts import LevelFault
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

LONGEST = timedelta(days=DECK_RUN_DAYS)
"""After which a run begins no further judgements, and what waits ends."""

REST = timedelta(hours=6)
"""How long the last calls of a run are waited for while none of them is answered: a judge may send
away one and the same sample for ever, and its versions work in no other run meanwhile."""

LOST_STEPS = 3
"""After so many steps that never ended, the next goes row by row, and notes which it is at."""

MOST_KILLS = 2
"""How often a row is read at which steps are killed."""

MOST_KILLERS = 20
"""Rows of one run that end so, until it begins nothing more; after as many again it is ended."""

RUN_DAYS = 30
KEPT = timedelta(days=RUN_DAYS)
"""How long ids of a run's samples, and of what it asks, are there at most."""


class Judged(FrozenModel):
    """A grader of a run, in the version that judges.

    Of a run that generates it is an edit of the system prompt, and a version of the deck.

    Attributes:
        again_by: a model; samples that another one judged are judged again, beside the first
            judgement. What this model has judged is known.
    """

    grader_id: str
    version: int
    again_by: str | None = None


class Counts(FrozenModel):
    """What has become of a run's judgements; what is in none of the four is pending.

    Attributes:
        known: of ``scored`` and ``abstained``, those that were there before the run.
        compared: pairs of a first and a second judgement that both have a level; ``same`` and
            ``within_one`` of these agree.
    """

    scored: int = 0
    abstained: int = 0
    failed: int = 0
    canceled: int = 0
    known: int = 0
    compared: int = 0
    same: int = 0
    within_one: int = 0

    @property
    def decided(self) -> int:
        """How many are not pending."""
        return self.scored + self.abstained + self.failed + self.canceled

    def plus(self, status: DeckResultStatus, number: int = 1) -> "Counts":
        """Return these and so many more that ended so."""
        return self.model_copy(update={status: getattr(self, status) + number})

    def plus_known(self, status: DeckResultStatus) -> "Counts":
        """Return these and one that was there before."""
        more = self.plus(status)
        is_there = status in {"scored", "abstained"}
        return more.model_copy(update={"known": self.known + is_there})

    def plus_repeated(self, first: int | None, second: int | None) -> "Counts":
        """Return these and a comparison, where both judgements have a level."""
        if first is None or second is None:
            return self
        apart = abs(first - second)
        return self.model_copy(
            update={
                "compared": self.compared + 1,
                "same": self.same + (apart == 0),
                "within_one": self.within_one + (apart <= 1),
            }
        )


class Run(Entity):
    """Judgements of samples by graders, and how far they are.

    Attributes:
        deck_version: of samples of one version of the system prompt alone.
        samples: how many; their ids lie beside the run, in the order in which they are judged.
        position: how many pairs of a sample and a grader were begun, or need not be: pairs go
            sample by sample.
        chunks: how many chunks there have been.
        spent: what rows that have ended cost, in nano-USD. ``reserved``: what those that are under
            way may cost at most. Together they are never above ``cap``.
        looked_at: when rows could be looked at last.
        redrive: number of the current execution; those from before have no effect any more.
        lost: how often an execution was lost in a row, with nothing done in between.
        due_at: when its execution counts as lost, unless it reports before.
        progressed_at: when something of it was begun or ended last.
        given_up_at: when what is left was given up, because nothing of it was answered any more.
        failing_at: when it was given up, because no execution went on with it. What has ended of it
            is still counted, and what waits canceled, before it ends.
        revision: how often the run was changed; a write names the one that it has read.
        proposal: of one that proposes graders.
        steps_begun: how many steps were begun since one ended.
        at_hand: the row that a step is about to read, where steps go row by row.
        suspects: how often a step was killed, by the row that it was at.
        killers: how many rows ended because steps were killed at them.
    """

    deck_id: str
    kind: DeckRunKind = "grade"
    status: DeckRunStatus = "running"
    graders: Sequence[Judged]
    split: Split | None = None
    deck_version: int | None = None
    judged_edit_id: str | None = None
    repeat: bool = False
    samples: int
    position: int = 0
    chunks: int = 0
    counts: Counts = Field(default_factory=Counts)
    estimate: int
    bound: int
    cap: int
    spent: int = 0
    reserved: int = 0
    stopped_because: DeckRunStop | None = None
    waiting_because: DeckRunWait | None = None
    cancel_requested_at: datetime | None = None
    fingerprint: str
    redrive: int = 0
    lost: int = 0
    looked_at: datetime
    due_at: datetime
    progressed_at: datetime | None = None
    given_up_at: datetime | None = None
    failing_at: datetime | None = None
    revision: int = 1
    created_at: datetime
    created_by: str
    ended_at: datetime | None = None
    proposal: RunProposal | None = None
    steps_begun: int = 0
    at_hand: str | None = None
    suspects: Mapping[str, int] = Field(default_factory=dict)
    killers: int = 0

    @property
    def is_careful(self) -> bool:
        """Whether a step that was begun goes row by row."""
        return self.steps_begun > LOST_STEPS or any(
            kills < MOST_KILLS for kills in self.suspects.values()
        )

    @property
    def is_careful_next(self) -> bool:
        """Whether a step may be that is begun now."""
        return self.steps_begun >= LOST_STEPS or bool(self.suspects) or self.at_hand is not None

    @property
    def expected(self) -> int:
        """How many judgements there are altogether."""
        return self.samples * len(self.graders)

    @property
    def pending(self) -> int:
        """How many of them are under way or not begun."""
        return self.expected - self.counts.decided

    @property
    def room(self) -> int:
        """What may still be set aside, in nano-USD."""
        return self.cap - self.spent - self.reserved

    @property
    def deadline(self) -> datetime:
        """When what waits ends."""
        return self.created_at + LONGEST

    @property
    def is_open(self) -> bool:
        """Whether it is under way."""
        return self.status == "running"

    @property
    def ends_early(self) -> bool:
        """Whether nothing more of it is begun, and what waits is canceled."""
        return self.cancel_requested_at is not None or self.failing_at is not None

    def is_killer(self, key: str) -> bool:
        """Return whether a row is not read any more, because steps were killed at it."""
        return self.suspects.get(key, 0) >= MOST_KILLS

    def changes_of_failure(self, now: datetime) -> dict[str, Any]:
        """Return what changes of a run that ends as it is.

        Nobody has seen what became of the rest, so that it counts with all that it may cost.
        """
        return {
            "status": "failed",
            "counts": self.counts.plus("failed", self.pending),
            "spent": self.spent + self.reserved,
            "reserved": 0,
            "waiting_because": None,
            "ended_at": now,
        }

    @property
    def edit_id(self) -> str | None:
        """The edit that it replays: what a replay is asked for is named by it."""
        return self.fingerprint if self.kind == "replay" else None

    @property
    def prompt_edit_id(self) -> str | None:
        """The edit of the system prompt that it generates responses for."""
        return self.fingerprint if self.kind == "generate" else None

    @property
    def is_ended_replay(self) -> bool:
        """Whether it has ended, and replayed an edit, which is measured then."""
        return self.edit_id is not None and not self.is_open


class Asked(FrozenModel):
    """A judgement that is under way.

    Attributes:
        grader: its place in the run's graders.
        ask: which question about this sample it is, from 1.
        fault: of the first answer, where this is the second question.
        paid: what earlier questions about it cost, in nano-USD.
        row_id: the row of the ledger.
        most: what this one may cost.
    """

    sample_id: str
    grader: int
    ask: int = 1
    fault: LevelFault | None = None
    paid: int = 0
    row_id: str
    most: int


class Chunk(FrozenModel):
    """Judgements that were begun together.

    ``reserved``: money is set aside, and their rows are being enqueued. ``asked``: these are.

    Attributes:
        left: those that have not ended.
        rows: the rows that are to be enqueued, as JSON, compressed.
        erasing: rows whose results are stored, and whose texts are to go.
    """

    run_id: str
    number: int
    state: Literal["reserved", "asked"]
    left: Sequence[Asked]
    rows: bytes | None = None
    erasing: Sequence[str] = ()
    asked_at: datetime
    revision: int = 1

    @property
    def reserved(self) -> int:
        """What is set aside for those that have not ended."""
        return sum(one.most for one in self.left)
