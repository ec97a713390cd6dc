"""Edits of rubrics: proposing, replaying, accepting, rejecting and taking back."""

from functools import cache
from typing import Any

from autotune.protocol.deck_edit_proposals import (
    EditProposalEstimateResponse,
    EditProposalResponse,
    EstimateEditProposalRequest,
    ProposeEditsRequest,
)
from autotune.protocol.deck_edits import (
    AcceptEditRequest,
    CreateEditRequest,
    DecideEditRequest,
    DeckEditList,
    DeckEditResponse,
    EditEstimateResponse,
    ReplayEditRequest,
)
from autotune_platform.decks.fixing.wire import edit_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment import DeckRunApiEnvironment
from autotune_platform.wiring.deck_edits import DeckEditParts

_EDITS = "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits"
_EDIT = f"{_EDITS}/<deck_edit_id>"


@cache
def parts() -> DeckEditParts:
    """Return what this process is put together from."""
    return DeckEditParts(DeckRunApiEnvironment.parse())


app = Api(parts)


@app.post(_EDITS, status_code=201, tags=["decks"])
def create_deck_edit(
    deck_id: str, deck_grader_id: str, body: CreateEditRequest
) -> DeckEditResponse:
    """Propose an edit of a grader's current version: a patch of its texts.

    Refused is what does not apply to them, takes eight words in a row from a labelled sample, or
    makes the rubric more than twice as long.
    """
    edit = parts().edit_writing.create(app.caller, deck_id, deck_grader_id, body)
    app.made(deck_edit_id=edit.id)
    return DeckEditResponse(edit=edit_on_wire(edit))


@app.get(_EDITS, tags=["decks"])
def list_deck_edits(
    deck_id: str, deck_grader_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> DeckEditList:
    """List a grader's edits, newest first."""
    return parts().edits.page(
        app.caller, deck_id, deck_grader_id, limit=limit, next_token=next_token
    )


@app.post(f"{_EDITS}/proposals", status_code=202, tags=["decks"])
def propose_deck_edits(
    deck_id: str, deck_grader_id: str, body: ProposeEditsRequest
) -> EditProposalResponse:
    """Have a model propose edits of a grader's current version: one proposal at a time.

    It is shown disagreements of the development half. It goes on by itself as answers come.
    """
    found = parts().edit_proposing.start(app.caller, deck_id, deck_grader_id, body)
    return EditProposalResponse(proposal=found)


@app.get(f"{_EDITS}/proposals", tags=["decks"])
def read_edit_proposal(deck_id: str, deck_grader_id: str) -> EditProposalResponse:
    """Return the latest proposal of a grader's edits, as far as it was answered."""
    found = parts().edit_proposing.get(app.caller, deck_id, deck_grader_id)
    return EditProposalResponse(proposal=found)


@app.post(f"{_EDITS}/proposals/estimate", tags=["decks"])
def estimate_edit_proposal(
    deck_id: str, deck_grader_id: str, body: EstimateEditProposalRequest
) -> EditProposalEstimateResponse:
    """Return what it would cost to have a model propose edits; nothing is asked or stored."""
    found = parts().edit_proposing.estimate(app.caller, deck_id, deck_grader_id, body)
    return EditProposalEstimateResponse(estimate=found)


@app.post(f"{_EDITS}/proposals/cancel", tags=["decks"])
def cancel_edit_proposal(deck_id: str, deck_grader_id: str) -> EditProposalResponse:
    """Have the latest proposal ask nothing more; one that has ended stays as it is.

    What is being asked may be paid. It is ``canceled`` once nothing of it is under way; patches
    that were answered by then become edits.
    """
    found = parts().edit_proposing.cancel(app.caller, deck_id, deck_grader_id)
    return EditProposalResponse(proposal=found)


@app.get(_EDIT, tags=["decks"])
def read_deck_edit(deck_id: str, deck_grader_id: str, deck_edit_id: str) -> DeckEditResponse:
    """Return one edit, with what it changes once its replay has ended."""
    found = parts().edits.get(app.caller, deck_id, deck_grader_id, deck_edit_id)
    return DeckEditResponse(edit=found)


@app.post(f"{_EDIT}/estimate", tags=["decks"])
def estimate_deck_edit(
    deck_id: str, deck_grader_id: str, deck_edit_id: str, body: ReplayEditRequest
) -> EditEstimateResponse:
    """Return what a replay with this body would cost, and which look it would spend.

    Nothing is asked, stored or spent. What cannot be replayed so is refused as the replay is.
    """
    found = parts().edit_replaying.estimate(app.caller, deck_id, deck_grader_id, deck_edit_id, body)
    return EditEstimateResponse(estimate=found)


@app.post(f"{_EDIT}/replay", status_code=202, tags=["decks"])
def replay_deck_edit(
    deck_id: str, deck_grader_id: str, deck_edit_id: str, body: ReplayEditRequest
) -> DeckEditResponse:
    """Have labelled samples judged by the edited version; the edit is measured after that.

    The development half comes first. On the held-out half it spends a look at the labels, which is
    counted for good: the k-th look has the level 0.05 / 2^k.
    """
    edit = parts().edit_replaying.start(app.caller, deck_id, deck_grader_id, deck_edit_id, body)
    app.made(run_id=edit.run_id or "")
    return DeckEditResponse(edit=edit_on_wire(edit))


@app.post(f"{_EDIT}/accept", tags=["decks"])
def accept_deck_edit(
    deck_id: str, deck_grader_id: str, deck_edit_id: str, body: AcceptEditRequest
) -> DeckEditResponse:
    """Make the edited version the current one, if what was measured allows it."""
    found = parts().edits.accept(
        app.caller, deck_id, deck_grader_id, deck_edit_id, consent=body.consent
    )
    return DeckEditResponse(edit=found)


@app.post(f"{_EDIT}/reject", tags=["decks"])
def reject_deck_edit(
    deck_id: str, deck_grader_id: str, deck_edit_id: str, body: DecideEditRequest
) -> DeckEditResponse:
    """Reject an edit that is not accepted; its version never becomes the current one."""
    edit = parts().edit_deciding.reject(
        app.caller, deck_id, deck_grader_id, deck_edit_id, reason=body.reason
    )
    return DeckEditResponse(edit=edit_on_wire(edit))


@app.post(f"{_EDIT}/rollback", tags=["decks"])
def roll_back_deck_edit(
    deck_id: str, deck_grader_id: str, deck_edit_id: str, body: DecideEditRequest
) -> DeckEditResponse:
    """Make the version from before an accepted edit the current one again."""
    edit = parts().edit_deciding.roll_back(
        app.caller, deck_id, deck_grader_id, deck_edit_id, reason=body.reason
    )
    return DeckEditResponse(edit=edit_on_wire(edit))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
