"""Edits that a model proposes, on the wire: how far it is, and what came of it."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits, types
from autotune.protocol.deck_edits import ShownPattern
from autotune.protocol.deck_rubrics import DeckJudge

EditProposalStatus = Literal[
    "coding", "merging", "patching", "completed", "stopped", "failed", "canceled"
]
"""``coding``: each disagreement is named. ``merging``: these names become patterns. ``patching``:
an edit is written for each. ``stopped``: what is left of the cap is too little to go on.
``canceled``: a person asked for no more of it, and nothing of it is under way."""

EditProposalFailure = Literal[
    "no_codes", "no_patterns", "not_askable", "grader_changed", "step_killed"
]
"""Why it failed: no disagreement could be named, no pattern has a sample that shows it, the model
cannot be asked, another version of the grader is the current one by now, or functions were killed
while they read what it needs."""


class EstimateEditProposalRequest(types.RequestModel):
    """Asks what it costs to have a model propose edits of a grader's current version.

    Attributes:
        proposer: the model that would be asked.
        samples: so many disagreements of the development half are shown, the widest first.
    """

    proposer: DeckJudge
    samples: Annotated[int, Field(ge=1, le=limits.MAX_CODED_SAMPLES, strict=True)] = (
        limits.MAX_CODED_SAMPLES
    )


class ProposeEditsRequest(EstimateEditProposalRequest):
    """Has a model propose edits of a grader's current version.

    Attributes:
        cap_nano_usd: the most that it may cost, in billionths of a US dollar.
    """

    cap_nano_usd: Annotated[int, Field(ge=0, le=limits.MAX_DECK_RUN_CAP, strict=True)]


class EditProposalEstimate(types.ResponseModel):
    """What it costs to have edits proposed; nothing is asked, and nothing is spent.

    Attributes:
        shown: how many disagreements the model would be shown.
        requests: how often it would be asked at most: of each of these, once for patterns, and once
            for each pattern.
        estimate_nano_usd: where a token has four bytes, answers are as long as usual, and three
            patterns are found.
        bound_nano_usd: where a token has one byte, each answer is as long as it may be, and as many
            patterns are found as there may be, each shown by the longest samples.
        least_cap_nano_usd: what naming the disagreements costs at most: a cap below is refused.
        fits: whether the organisation's budget has room for the bound now.
    """

    shown: int
    requests: int
    estimate_nano_usd: int
    bound_nano_usd: int
    least_cap_nano_usd: int
    fits: bool


class EditProposalEstimateResponse(types.ResponseModel):
    """What it would cost to have edits proposed."""

    estimate: EditProposalEstimate


class FoundPattern(ShownPattern):
    """A pattern that a model found, and the samples that it cites for it."""

    sample_ids: list[str]


class RefusedPatch(types.ResponseModel):
    """A patch that was refused, with the name of its pattern, and why."""

    pattern: str
    because: str


class EditProposal(types.ResponseModel):
    """What a model proposes for a version of a grader.

    Attributes:
        number: of the grader's proposals, from 1.
        shown: how many disagreements the model was shown.
        cost_nano_usd: what was paid so far.
        edit_ids: the edits that were made of it.
        unread: answers that count as none, because functions were killed while they read them.
        cancel_requested_at: when a person asked for no more; what is being asked may be paid still.
    """

    grader_id: str
    number: int
    base_version: int
    status: EditProposalStatus
    failed_because: EditProposalFailure | None = None
    shown: int
    patterns: list[FoundPattern] = []
    edit_ids: list[str] = []
    refused: list[RefusedPatch] = []
    unread: int = 0
    cap_nano_usd: int
    cost_nano_usd: int
    cancel_requested_at: types.Timestamp | None = None
    created_at: types.Timestamp
    created_by: str
    ended_at: types.Timestamp | None = None


class EditProposalResponse(types.ResponseModel):
    """The latest proposal of a grader's edits; null where no model was asked yet."""

    proposal: EditProposal | None = None
