"""Data of the events of decks: what has ended and how, without a text."""

from autotune.protocol.deck_edit_proposals import EditProposalFailure, EditProposalStatus
from autotune.protocol.deck_effects import EditOutcome
from autotune.protocol.deck_runs import DeckRunCounts, DeckRunKind, DeckRunStatus, DeckRunStop
from autotune.protocol.deck_samples import Split
from autotune.protocol.types import ResponseModel, Timestamp


class DeckRunCompleted(ResponseModel):
    """The data of ``deck.run.completed``: a run has ended, however it did.

    Attributes:
        status: ``completed``, ``stopped``, ``canceled`` or ``failed``.
        counts: of its judgements; all 0 where it proposed graders.
        proposed: how many graders it proposed, where it did.
    """

    deck_id: str
    run_id: str
    kind: DeckRunKind
    status: DeckRunStatus
    stopped_because: DeckRunStop | None = None
    counts: DeckRunCounts
    proposed: int | None = None
    cost_nano_usd: int
    created_at: Timestamp
    ended_at: Timestamp


class DeckEditMeasured(ResponseModel):
    """The data of ``deck.edit.measured``: what an edit changes on one half is known.

    Attributes:
        split: the half.
        delta: by how much κ rose; null where it is undefined.
        look: which look at the held-out labels it was; null on the development half.
        outcome: what may become of the edit; null on the development half, which backs no claim.
    """

    deck_id: str
    grader_id: str
    edit_id: str
    run_id: str
    split: Split
    delta: float | None = None
    look: int | None = None
    outcome: EditOutcome | None = None
    measured_at: Timestamp


class DeckProposalCompleted(ResponseModel):
    """The data of ``deck.proposal.completed``: a model's proposal of edits has ended.

    Attributes:
        number: of the grader's proposals, from 1.
        status: ``completed``, ``stopped``, ``canceled`` or ``failed``.
        failed_because: why it failed.
        edits: how many edits were made of it, and ``refused`` how many patches were refused.
    """

    deck_id: str
    grader_id: str
    number: int
    status: EditProposalStatus
    failed_because: EditProposalFailure | None = None
    edits: int
    refused: int
    cost_nano_usd: int
    created_at: Timestamp
    ended_at: Timestamp
