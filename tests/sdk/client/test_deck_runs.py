"""``client.decks.runs``: estimates, runs and results, blocking and for an event loop."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    AutotuneClient,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    WaitTimeoutError,
)
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def runs(api):
    with make_ledger(api.platform) as ledger:
        made = DeckRuns(ledger)
        made.judging(lambda _: verdict(2, "it is right"))
        yield made


def test_a_run_is_priced_started_waited_for_and_read(runs: DeckRuns, client: AutotuneClient):
    grader_id = runs.add_grader()
    sample_id, _ = runs.add_samples("alpha", "beta")
    deck_id, decks = runs.deck_id, client.decks.runs
    estimate = decks.estimate(deck_id, grader_ids=[grader_id], sample_ids=[sample_id])
    assert (estimate.samples, estimate.requests, estimate.graders[0].measured) == (1, 1, False)
    run = decks.start(
        deck_id, sample_ids=[sample_id], cap_nano_usd=10**9, idempotency_key="once-only"
    )
    again = decks.start(
        deck_id, sample_ids=[sample_id], cap_nano_usd=10**9, idempotency_key="once-only"
    )
    assert (again.id, run.counts.pending) == (run.id, 1)
    assert run.cap_nano_usd == run.bound_nano_usd == estimate.bound_nano_usd
    with pytest.raises(ConflictError):
        decks.start(deck_id)
    with pytest.raises(WaitTimeoutError):
        decks.wait_for(deck_id, run.id, timeout=0)
    runs.finish({"id": run.id})
    seen = []
    ended = decks.wait_for(deck_id, run.id, on_progress=seen.append)
    assert (ended.status, ended.counts.scored, seen) == ("completed", 1, [ended])
    (result,) = decks.list_results(deck_id, grader_id, version=1, status="scored", score=2)
    assert (result.sample_id, result.explanation) == (sample_id, "it is right")
    assert decks.list_sample_results(deck_id, sample_id) == [result]
    assert list(decks.list_results(deck_id, grader_id, repeated=True)) == []
    other = decks.start(deck_id, split=None)
    assert decks.cancel(deck_id, other.id).cancel_requested_at is not None
    assert [one.id for one in decks.list(deck_id, page_size=1)] == [other.id, run.id]
    with pytest.raises(NotFoundError):
        decks.get(deck_id, "drn_" + "0" * 26)


def test_what_cannot_be_is_refused_before_it_is_sent(api, runs: DeckRuns, client: AutotuneClient):
    before = len(api.received)
    for wrong in (
        {"sample_ids": ["smp_" + "0" * 26], "split": "holdout"},
        {"cap_nano_usd": -1},
        {"grader_ids": []},
        {"idempotency_key": "with space"},
    ):
        with pytest.raises(InvalidInputError):
            client.decks.runs.start(runs.deck_id, **wrong)
    assert len(api.received) == before


def test_runs_for_an_event_loop(api, runs: DeckRuns):
    grader_id = runs.add_grader()
    runs.add_samples("alpha")

    async def journey() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            run = await client.decks.runs.start(runs.deck_id)
            await asyncio.to_thread(runs.finish, {"id": run.id})
            ended = await client.decks.runs.wait_for(runs.deck_id, run.id)
            assert ended.status == "completed"
            found = [one async for one in client.decks.runs.list_results(runs.deck_id, grader_id)]
            assert [one.score for one in found] == [2]

    asyncio.run(journey())
