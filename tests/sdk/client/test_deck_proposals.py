"""``client.decks.graders.propose``: graders from a prompt, blocking and for an event loop."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    AutotuneClient,
    InvalidInputError,
    InvalidRequestError,
    NotFoundError,
)
from tests.judges.planted_samples import SYSTEM_PROMPT
from tests.support.deck_proposals import Proposals
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def proposals(api):
    with make_ledger(api.platform) as ledger:
        yield Proposals(ledger)


def test_graders_are_priced_proposed_and_read(proposals: Proposals, client: AutotuneClient):
    deck_id, graders = proposals.deck_id, client.decks.graders
    estimate = graders.estimate_proposal(deck_id, proposer=proposals.proposer)
    assert 0 < estimate.estimate_nano_usd < estimate.bound_nano_usd
    given = {"proposer": proposals.proposer, "judge": proposals.proposer, "idempotency_key": "k"}
    run = graders.propose(deck_id, **given)
    assert graders.propose(deck_id, **given).id == run.id
    assert (run.kind, run.cap_nano_usd) == ("propose", estimate.bound_nano_usd)
    proposals.faults("quote")
    proposals.finish({"id": run.id})
    ended = client.decks.runs.wait_for(deck_id, run.id)
    assert ended.status == "completed"
    proposal = ended.proposal
    assert proposal is not None
    assert (proposal.repairs, proposal.refused) == (1, [])
    listed = graders.list(deck_id)
    assert [one.id for one in listed] == proposal.grader_ids
    assert {(one.status, one.origin) for one in listed} == {("proposed", "model")}
    assert graders.update(deck_id, listed[0].id, status="active").status == "active"
    with pytest.raises(InvalidInputError):
        graders.propose(deck_id, proposer={"model": "m"})


def test_a_deck_is_made_with_graders_proposed_at_once(proposals: Proposals, client: AutotuneClient):
    created = client.decks.create_proposed(
        name="new",
        system_prompt=SYSTEM_PROMPT,
        proposer=proposals.proposer,
        judge=proposals.proposer,
        cap_nano_usd=10**9,
    )
    assert created.run is not None
    assert (created.run.deck_id, created.run.cap_nano_usd) == (created.deck.id, 10**9)
    with pytest.raises(InvalidInputError, match="propose"):
        client.decks.create_proposed(name="n", system_prompt="s", proposer={"model": "m"})
    unknown = {**proposals.proposer, "connectionId": "llc_" + "0" * 26}
    before = len(list(client.decks.list()))
    with pytest.raises(InvalidRequestError):
        client.decks.create_proposed(name="n", system_prompt="s", proposer=unknown)
    assert len(list(client.decks.list())) == before


def test_an_event_loop_proposes_too(api, proposals: Proposals):
    async def propose():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            graders = client.decks.graders
            run = await graders.propose(
                proposals.deck_id, proposer=proposals.proposer, cap_nano_usd=1
            )
            with pytest.raises(NotFoundError):
                await graders.estimate_proposal("dck_" + "0" * 26, proposer=proposals.proposer)
            return run

    run = asyncio.run(propose())
    ended = proposals.finish({"id": run.id})
    assert (ended["status"], ended["stoppedBecause"]) == ("stopped", "cap")
