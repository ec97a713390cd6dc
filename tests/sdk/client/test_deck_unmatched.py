"""``client.decks.samples.match`` and ``client.decks.unmatched``, blocking and for an event loop."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, ConflictError, InvalidInputError, NotFoundError
from tests.support.decks import chat


def test_samples_find_their_deck_and_a_prompt_becomes_one(api, client):
    deck = client.decks.create(name="d", system_prompt="Mine.")
    lines = [
        chat("q", output="a", system="Mine."),
        {"input": "q", "output": "a"},
        chat("q", output="a", system="Nobody's."),
    ]
    seen = []
    done = client.decks.samples.match(
        lines, collection="telemetry", idempotency_key="k", on_progress=seen.append
    )
    assert seen == [done]
    assert (done.accepted, done.samples[0].deck_id, done.samples[0].line) == (1, deck.id, 1)
    assert [one.line for one in done.rejected] == [2]
    (sample,) = client.decks.samples.list(deck.id)
    assert (sample.id, sample.collection) == (done.samples[0].sample_id, "telemetry")
    again = client.decks.samples.match(lines, collection="telemetry", idempotency_key="k")
    assert again == done

    found = client.decks.unmatched.list()
    assert found.passed_over == 0
    (prompt,) = found.prompts
    assert [(one.line, one.unmatched_id) for one in done.unmatched] == [(3, prompt.id)]
    whole = client.decks.unmatched.get(prompt.id)
    assert (whole.system_prompt, whole.calls, len(whole.examples)) == ("Nobody's.", 1, 1)
    with pytest.raises(InvalidInputError, match="name"):
        client.decks.unmatched.adopt(prompt.id, name="")
    adopted = client.decks.unmatched.adopt(prompt.id, name="n", holdout_share=1)
    assert (adopted.deck.name, adopted.deck.samples, adopted.deck.holdout_share) == ("n", 1, 1)
    assert client.decks.unmatched.list().prompts == []
    with pytest.raises(NotFoundError):
        client.decks.unmatched.get(prompt.id)


def test_many_samples_come_in_parts_with_lines_counted_over_all(api, client):
    client.decks.create(name="d", system_prompt="Mine.")
    lines = [chat(f"q{n}", output="a", system="Mine.") for n in range(130)]
    lines[120] = {"input": "q", "output": "a"}
    lines[125] = chat("q", output="a", system="Nobody's.")
    before = len(api.received)
    done = client.decks.samples.match(iter(lines))
    assert len(api.received) - before == 2
    assert [one.line for one in done.rejected] == [121]
    assert [one.line for one in done.unmatched] == [126]
    assert done.accepted == 128
    assert done.samples[-1].line == 130


def test_an_event_loop_has_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            lines = [chat("q", output="a", system="Nobody's.")]
            done = await client.decks.samples.match(lines)
            unmatched = client.decks.unmatched
            (prompt,) = (await unmatched.list()).prompts
            assert done.unmatched[0].unmatched_id == prompt.id
            for name in ("one", "two"):
                await client.decks.create(name=name, system_prompt="Nobody's.")
            with pytest.raises(ConflictError):
                await unmatched.adopt(prompt.id, name="n")
            await unmatched.dismiss(prompt.id)
            assert (await unmatched.list()).prompts == []

    asyncio.run(use())
