"""Edits of rubrics and of system prompts: proposing, measuring, accepting and taking back."""

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
from autotune.protocol.deck_prompt_edits import (
    AcceptPromptEditRequest,
    CreatePromptEditRequest,
    DecidePromptEditRequest,
    GenerateResponsesRequest,
    PromptEditEstimateResponse,
    PromptEditList,
    PromptEditResponse,
)
from autotune_platform.decks.fixing.wire import edit_on_wire
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.wire import prompt_edit_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.deck_runs import DeckRunApiEnvironment
from autotune_platform.wiring.deck_prompts import EditApiParts

_EDITS = "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits"
_EDIT = f"{_EDITS}/<deck_edit_id>"
_PROMPT_EDITS = "/api/v1/decks/<deck_id>/prompt-edits"
_PROMPT_EDIT = f"{_PROMPT_EDITS}/<prompt_edit_id>"


@cache
def parts() -> EditApiParts:
    """Return what this process is put together from."""
    return EditApiParts(DeckRunApiEnvironment.parse())


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


@app.post(_PROMPT_EDITS, status_code=201, tags=["decks"])
def create_prompt_edit(deck_id: str, body: CreatePromptEditRequest) -> PromptEditResponse:
    """Propose a system prompt in place of the current one; it is stored as a version of the deck.

    That version is not the current one before the edit is accepted.
    """
    edit = parts().prompt_edits.create(app.caller, deck_id, body)
    app.made(prompt_edit_id=edit.id)
    return _prompt_answer(edit)


@app.get(_PROMPT_EDITS, tags=["decks"])
def list_prompt_edits(
    deck_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> PromptEditList:
    """List a deck's edits of its system prompt, newest first."""
    found, token = parts().prompt_edits.page(
        app.caller, deck_id, limit=limit, next_token=next_token
    )
    return PromptEditList(edits=[prompt_edit_on_wire(one) for one in found], next_token=token)


@app.get(_PROMPT_EDIT, tags=["decks"])
def read_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditResponse:
    """Return one edit, with what was measured last; reading it spends nothing."""
    return _prompt_answer(parts().prompt_edits.get(app.caller, deck_id, prompt_edit_id))


@app.post(f"{_PROMPT_EDIT}/estimate", tags=["decks"])
def estimate_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditEstimateResponse:
    """Return what the responses would probably cost, and at most; nothing is asked or spent."""
    found = parts().prompt_edits.estimate(app.caller, deck_id, prompt_edit_id)
    return PromptEditEstimateResponse(estimate=found)


@app.post(f"{_PROMPT_EDIT}/generate", status_code=202, tags=["decks"])
def generate_responses(
    deck_id: str, prompt_edit_id: str, body: GenerateResponsesRequest
) -> PromptEditResponse:
    """Have the model answer the drawn inputs under both prompts, in a run that can be canceled.

    Responses are stored as samples, each in the group and the half of its source. Those that are
    there are not paid again.
    """
    edit = parts().prompt_edits.generate(app.caller, deck_id, prompt_edit_id, body)
    app.made(run_id=edit.run_id or "")
    return _prompt_answer(edit)


@app.post(f"{_PROMPT_EDIT}/measure", tags=["decks"])
def measure_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditResponse:
    """Compare the responses under both prompts, by corrected means; each time spends a look.

    With too few labels there is no figure, and no look is spent.
    """
    return _prompt_answer(parts().prompt_measuring.measure(app.caller, deck_id, prompt_edit_id))


@app.post(f"{_PROMPT_EDIT}/accept", tags=["decks"])
def accept_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: AcceptPromptEditRequest
) -> PromptEditResponse:
    """Make the edited prompt the current one, if what was measured speaks for it, or by consent."""
    found = parts().prompt_deciding.accept(
        app.caller, deck_id, prompt_edit_id, consent=body.consent
    )
    return _prompt_answer(found)


@app.post(f"{_PROMPT_EDIT}/reject", tags=["decks"])
def reject_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: DecidePromptEditRequest
) -> PromptEditResponse:
    """Reject an edit that is not accepted; its responses stay as samples of its version."""
    found = parts().prompt_deciding.reject(app.caller, deck_id, prompt_edit_id, reason=body.reason)
    return _prompt_answer(found)


@app.post(f"{_PROMPT_EDIT}/rollback", tags=["decks"])
def roll_back_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: DecidePromptEditRequest
) -> PromptEditResponse:
    """Make the prompt from before an accepted edit the current one again."""
    found = parts().prompt_deciding.roll_back(
        app.caller, deck_id, prompt_edit_id, reason=body.reason
    )
    return _prompt_answer(found)


def _prompt_answer(edit: PromptEdit) -> PromptEditResponse:
    return PromptEditResponse(edit=prompt_edit_on_wire(edit))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
