"""``client.decks.prompt_edits``: other system prompts, blocking and for an event loop."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, ConflictError, InvalidRequestError
from tests.support.ledger import ledger as make_ledger
from tests.support.prompt_edits import NEW, OLD, PromptEdits


def test_a_prompt_is_proposed_priced_accepted_and_taken_back(api, client):
    with make_ledger(api.platform) as ledger:
        deck = PromptEdits(ledger, samples=2, holdoutShare=0)
        generator = {
            "connectionId": deck.connection_id,
            "model": "small",
            "params": {"maxTokens": 50},
        }
        edits = client.decks.prompt_edits
        with pytest.raises(InvalidRequestError, match="systemPrompt"):
            edits.propose(deck.deck_id, system_prompt=OLD, generator=generator)
        made = edits.propose(
            deck.deck_id, system_prompt=NEW, generator=generator, split=None, groups=1, note="n"
        )
        assert (made.status, made.split, made.groups) == ("proposed", None, 1)
        of = (deck.deck_id, made.id)
        assert edits.get(*of) == made == edits.wait_for(*of, timeout=1)
        assert [one.id for one in edits.list(deck.deck_id)] == [made.id]
        price = edits.estimate(*of)
        assert (price.samples, price.requests) == (1, 2)
        with pytest.raises(ConflictError, match="proposed"):
            edits.measure(*of)
        started = edits.generate(*of, cap_nano_usd=price.bound_nano_usd)
        assert (started.status, started.inputs) == ("generating", 1)
        run = client.decks.runs.get(deck.deck_id, started.run_id)
        assert (run.kind, run.prompt_edit_id, run.graders) == ("generate", made.id, [])
        with pytest.raises(ConflictError, match="consent"):
            edits.accept(*of)
        assert edits.accept(*of, consent=True).status == "accepted"
        assert client.decks.get(deck.deck_id).version == 2
        assert edits.rollback(*of, reason="no").reason == "no"
        with pytest.raises(ConflictError, match="rolled back"):
            edits.reject(*of)


def test_a_held_out_half_is_meant_unless_another_is_named(api):
    async def make() -> tuple[str | None, str]:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            edits = client.decks.prompt_edits
            made = await edits.propose(deck.deck_id, system_prompt=NEW, generator=generator)
            rejected = await edits.reject(deck.deck_id, made.id, reason="late")
            return made.split, rejected.status

    with make_ledger(api.platform) as ledger:
        deck = PromptEdits(ledger, samples=0)
        params = {"maxTokens": 50}
        generator = {"connectionId": deck.connection_id, "model": "small", "params": params}
        assert asyncio.run(make()) == ("holdout", "rejected")
