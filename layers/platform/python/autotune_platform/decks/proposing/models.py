"""Proposals of graders as the platform keeps them while they are made."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from autotune.protocol.deck_proposals import ProposalFault
from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.levels import LevelsRubric
from autotune_platform.runtime.frozen_model import FrozenModel


class Candidate(FrozenModel):
    """A grader that a model proposed and in which nothing wrong was found so far."""

    name: str
    rubric: LevelsRubric
    quotes: Sequence[str]


class Refused(FrozenModel):
    """What is not kept; ``text`` is how it was written, for whoever is to write it better."""

    name: str | None = None
    faults: Sequence[ProposalFault]
    text: str = ""


class RunProposal(FrozenModel):
    """What a run that proposes is about, and what has come of it."""

    deck_version: int
    proposer: DeckJudge
    judge: DeckJudge | None = None
    repairs: int = 0
    grader_ids: Sequence[str] = ()
    refused: Sequence[Refused] = ()


class Question(FrozenModel):
    """A row that is under way; ``candidate`` is whose levels it orders."""

    row_id: str
    most: int
    candidate: int = 0


class Proposing(FrozenModel):
    """How far a proposal is.

    ``graders`` asks for graders, ``order`` for the order of each one's levels; ``over`` asks for
    nothing any more. What is asked is ``planned``, then ``reserved``: money is set aside for it,
    then ``asked``.

    Attributes:
        kept: graders that passed every check.
        candidates: those whose levels are being put in order.
        rows: the rows that are to be enqueued, as JSON, compressed.
        erasing: rows that were read, and whose texts are to go.
        revision: 0 before it is stored first.
    """

    run_id: str
    stage: Literal["graders", "order", "over"] = "graders"
    state: Literal["planned", "reserved", "asked"] = "planned"
    repairs: int = 0
    questions: Sequence[Question] = ()
    rows: bytes | None = None
    kept: Sequence[Candidate] = ()
    candidates: Sequence[Candidate] = ()
    refused: Sequence[Refused] = ()
    out_of_money: bool = False
    erasing: Sequence[str] = ()
    asked_at: datetime
    revision: int = 0

    @property
    def reserved(self) -> int:
        """What is set aside for what is under way."""
        return sum(one.most for one in self.questions)
