"""Edits of decks' system prompts: making, answering, measuring, accepting and taking back."""

from functools import cache
from typing import Any

from autotune.protocol.deck_prompt_edits import (
    AcceptPromptEditRequest,
    CreatePromptEditRequest,
    DecidePromptEditRequest,
    GenerateResponsesRequest,
    PromptEditEstimateResponse,
    PromptEditList,
    PromptEditResponse,
)
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.wire import prompt_edit_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment import DeckRunApiEnvironment
from autotune_platform.wiring.deck_prompts import PromptEditParts

_EDITS = "/api/v1/decks/<deck_id>/prompt-edits"
_EDIT = f"{_EDITS}/<prompt_edit_id>"


@cache
def parts() -> PromptEditParts:
    """Return what this process is put together from."""
    return PromptEditParts(DeckRunApiEnvironment.parse())


app = Api(parts)


@app.post(_EDITS, status_code=201, tags=["decks"])
def create_prompt_edit(deck_id: str, body: CreatePromptEditRequest) -> PromptEditResponse:
    """Propose a system prompt in place of the current one; it is stored as a version of the deck.

    That version is not the current one before the edit is accepted.
    """
    edit = parts().prompt_edits.create(app.caller, deck_id, body)
    app.made(prompt_edit_id=edit.id)
    return _answer(edit)


@app.get(_EDITS, tags=["decks"])
def list_prompt_edits(
    deck_id: str, limit: PageSize = 50, next_token: NextToken = None
) -> PromptEditList:
    """List a deck's edits of its system prompt, newest first."""
    found, token = parts().prompt_edits.page(
        app.caller, deck_id, limit=limit, next_token=next_token
    )
    return PromptEditList(edits=[prompt_edit_on_wire(one) for one in found], next_token=token)


@app.get(_EDIT, tags=["decks"])
def read_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditResponse:
    """Return one edit, with what was measured last; reading it spends nothing."""
    return _answer(parts().prompt_edits.get(app.caller, deck_id, prompt_edit_id))


@app.post(f"{_EDIT}/estimate", tags=["decks"])
def estimate_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditEstimateResponse:
    """Return what the responses would probably cost, and at most; nothing is asked or spent."""
    found = parts().prompt_edits.estimate(app.caller, deck_id, prompt_edit_id)
    return PromptEditEstimateResponse(estimate=found)


@app.post(f"{_EDIT}/generate", status_code=202, tags=["decks"])
def generate_responses(
    deck_id: str, prompt_edit_id: str, body: GenerateResponsesRequest
) -> PromptEditResponse:
    """Have the model answer the drawn inputs under both prompts, in a run that can be canceled.

    Responses are stored as samples, each in the group and the half of its source. Those that are
    there are not paid again.
    """
    edit = parts().prompt_edits.generate(app.caller, deck_id, prompt_edit_id, body)
    app.made(run_id=edit.run_id or "")
    return _answer(edit)


@app.post(f"{_EDIT}/measure", tags=["decks"])
def measure_prompt_edit(deck_id: str, prompt_edit_id: str) -> PromptEditResponse:
    """Compare the responses under both prompts, by corrected means; each time spends a look.

    With too few labels there is no figure, and no look is spent.
    """
    return _answer(parts().prompt_measuring.measure(app.caller, deck_id, prompt_edit_id))


@app.post(f"{_EDIT}/accept", tags=["decks"])
def accept_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: AcceptPromptEditRequest
) -> PromptEditResponse:
    """Make the edited prompt the current one, if what was measured speaks for it, or by consent."""
    found = parts().prompt_deciding.accept(
        app.caller, deck_id, prompt_edit_id, consent=body.consent
    )
    return _answer(found)


@app.post(f"{_EDIT}/reject", tags=["decks"])
def reject_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: DecidePromptEditRequest
) -> PromptEditResponse:
    """Reject an edit that is not accepted; its responses stay as samples of its version."""
    found = parts().prompt_deciding.reject(app.caller, deck_id, prompt_edit_id, reason=body.reason)
    return _answer(found)


@app.post(f"{_EDIT}/rollback", tags=["decks"])
def roll_back_prompt_edit(
    deck_id: str, prompt_edit_id: str, body: DecidePromptEditRequest
) -> PromptEditResponse:
    """Make the prompt from before an accepted edit the current one again."""
    found = parts().prompt_deciding.roll_back(
        app.caller, deck_id, prompt_edit_id, reason=body.reason
    )
    return _answer(found)


def _answer(edit: PromptEdit) -> PromptEditResponse:
    return PromptEditResponse(edit=prompt_edit_on_wire(edit))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
