"""Graders that a model proposes from a deck's system prompt, on the wire."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits, types
from autotune.protocol.deck_rubrics import DeckJudge

ProposalFault = Literal[
    "answer_unreadable",
    "answer_too_long",
    "output_cut",
    "refused",
    "no_answer",
    "not_askable",
    "too_few",
    "too_many",
    "fields",
    "name_repeated",
    "criteria_repeated",
    "level_empty",
    "levels_repeated",
    "quote_not_in_prompt",
    "levels_out_of_order",
    "order_not_checked",
    "deck_full",
]
"""What is wrong with a grader that was proposed, or with the whole answer.

``answer_unreadable``: it was not one JSON object with graders alone. ``answer_too_long``: it was
above 80,000 bytes. ``no_answer``: the request ended without one. ``not_askable``: the connection,
its price or the budget is gone. ``too_few``, ``too_many``: not 3 to 7. ``fields``: one is missing
or out of its range. ``quote_not_in_prompt``: a quote does not stand in the prompt word by word.
``levels_out_of_order``: the model that saw its levels shuffled put them in another order.
``order_not_checked``: it did not say. ``deck_full``: the deck has 20 graders.
"""


class ProposeGradersRequest(types.RequestModel):
    """Which model proposes graders of a deck, and what that may cost.

    Attributes:
        proposer: the model that writes them, and that puts shuffled levels back in order.
        judge: what judges by them; without it, each needs a version with one before it is active.
        cap_nano_usd: the most that it may cost, in billionths of a US dollar. Where it is left out,
            what the estimate says it costs at most.
    """

    proposer: DeckJudge
    judge: DeckJudge | None = None
    cap_nano_usd: Annotated[int, Field(ge=0, le=limits.MAX_DECK_RUN_CAP, strict=True)] | None = None


class ProposalEstimate(types.ResponseModel):
    """What a proposal will probably cost, and at most; nothing is asked.

    Attributes:
        fits: whether the organisation's budget has room for the bound now.
    """

    estimate_nano_usd: int
    bound_nano_usd: int
    fits: bool


class ProposalEstimateResponse(types.ResponseModel):
    """The estimate of a proposal."""

    estimate: ProposalEstimate


class RefusedGrader(types.ResponseModel):
    """A grader that was proposed and is not kept, or an answer as a whole.

    Attributes:
        name: as the model called it; None of a whole answer.
    """

    name: str | None = None
    faults: list[ProposalFault]


class DeckProposal(types.ResponseModel):
    """What has come of a run that proposes.

    Attributes:
        deck_version: the version whose system prompt was read.
        model: the model that proposes.
        repairs: how often it was asked again, with the faults named: twice at most.
        grader_ids: graders that were stored as ``proposed``.
        refused: what was wrong with the others, at the end.
    """

    deck_version: int
    model: str
    repairs: int
    grader_ids: list[str]
    refused: list[RefusedGrader]
