"""``client.decks.edits``: edits of rubrics, blocking and for an event loop."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    ConflictError,
    InvalidInputError,
    InvalidRequestError,
)
from tests.support.deck_labels import LabelledDeck

PATCH = [{"field": "criteria", "find": "faithful", "replace": "true"}]
PROPOSER = {"connectionId": f"llc_{'0' * 26}", "model": "m", "params": {"maxTokens": 10}}


def test_an_edit_is_proposed_read_rejected_and_listed(api, client):
    deck = LabelledDeck(api.platform, samples=4)
    ids = (deck.id, deck.grader_id)
    edits = client.decks.edits
    pattern = {"name": "n", "description": "d"}
    made = edits.propose(*ids, patch=PATCH, pattern=pattern, note="w", base_version=1)
    assert (made.status, made.origin, made.pattern.name) == ("proposed", "person", "n")
    assert edits.get(*ids, made.id) == made == edits.wait_for(*ids, made.id, timeout=1)
    assert [one.id for one in edits.list(*ids)] == [made.id]
    with pytest.raises(ConflictError, match="active"):
        edits.replay(*ids, made.id, split="development")
    with pytest.raises(ConflictError, match="held out"):
        edits.accept(*ids, made.id)
    assert edits.reject(*ids, made.id, reason="no").status == "rejected"
    with pytest.raises(ConflictError, match="not accepted"):
        edits.rollback(*ids, made.id)
    with pytest.raises(InvalidRequestError, match="patch"):
        edits.propose(*ids, patch=[{**PATCH[0], "find": "nowhere"}])
    with pytest.raises(InvalidInputError):
        edits.propose(*ids, patch=[])
    with pytest.raises(ConflictError, match="differ on no sample"):
        edits.propose_by_model(*ids, proposer=PROPOSER, cap_nano_usd=1)
    with pytest.raises(ConflictError, match="differ on no sample"):
        edits.estimate_proposal(*ids, proposer=PROPOSER)
    assert edits.wait_for_proposal(*ids, timeout=1) is None
    assert edits.cancel_proposal(*ids) is None


def test_edits_are_read_on_an_event_loop(api):
    deck = LabelledDeck(api.platform)
    ids = (deck.id, deck.grader_id)

    async def make() -> list[str]:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            made = await client.decks.edits.propose(*ids, patch=PATCH)
            waited = await client.decks.edits.wait_for(*ids, made.id)
            return [
                waited.id == made.id,
                *[one.status async for one in client.decks.edits.list(*ids)],
            ]

    assert asyncio.run(make()) == [True, "proposed"]
