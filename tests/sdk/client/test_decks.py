"""``client.decks``: decks, their versions and their graders, blocking and for an event loop."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    ConflictError,
    InvalidInputError,
    InvalidRequestError,
    LevelsRubric,
    NewSample,
    NotFoundError,
)
from tests.support.decks import LEVELS, PROMPT, RUBRIC


def test_a_deck_is_made_changed_rolled_back_and_listed(api, client):
    deck = client.decks.create(name="summaries", system_prompt=PROMPT, holdout_share=0.25)
    assert (deck.version, deck.system_prompt, deck.holdout_share) == (1, PROMPT, 0.25)
    version = client.decks.add_version(deck.id, system_prompt="Be {{tone}}.", note="n", parent=1)
    assert (version.version, version.placeholders, version.note) == (2, ["tone"], "n")
    with pytest.raises(ConflictError):
        client.decks.add_version(deck.id, system_prompt="x", parent=1)
    assert [one.version for one in client.decks.versions(deck.id, page_size=1)] == [2, 1]
    assert client.decks.get_version(deck.id, 1).system_prompt == PROMPT
    changed = client.decks.update(deck.id, version=1, name="s", status="archived")
    assert (changed.version, changed.name, changed.status) == (1, "s", "archived")
    (listed,) = client.decks.list()
    assert (listed.id, listed.system_prompt) == (deck.id, None)
    assert client.decks.get(deck.id).system_prompt == PROMPT
    client.decks.delete(deck.id)
    assert list(client.decks.list()) == []
    with pytest.raises(NotFoundError):
        client.decks.get("dck_" + "0" * 26)
    before = len(api.received)
    for wrong in ({"system_prompt": " "}, {"system_prompt": "x", "holdout_share": 2}):
        with pytest.raises(InvalidInputError):
            client.decks.create(name="n", **wrong)
    with pytest.raises(InvalidInputError, match="name"):
        client.decks.update(deck.id, name=None)
    assert len(api.received) == before


def test_a_grader_is_made_changed_rolled_back_and_deleted(client):
    deck_id = client.decks.create(name="summaries", system_prompt=PROMPT).id
    grader = client.decks.graders.create(deck_id, name="faithful", rubric=RUBRIC, origin="import")
    assert (grader.status, grader.origin, grader.rubric.levels) == ("proposed", "import", LEVELS)
    rubric = LevelsRubric.model_validate(RUBRIC).model_copy(update={"criteria": "Is it true?"})
    version = client.decks.graders.add_version(deck_id, grader.id, rubric=rubric, note="n")
    assert (version.version, version.rubric.criteria) == (2, "Is it true?")
    assert version.rubric.not_applicable_when == RUBRIC["notApplicableWhen"]
    numbers = [one.version for one in client.decks.graders.versions(deck_id, grader.id)]
    assert numbers == [2, 1]
    assert client.decks.graders.get_version(deck_id, grader.id, 1).digest == grader.digest
    back = client.decks.graders.update(deck_id, grader.id, version=1, name="f")
    assert client.decks.graders.get(deck_id, grader.id) == back
    assert client.decks.graders.list(deck_id) == [back]
    assert (back.shared_share, back.shared_raters) == (0.2, 2)
    shared = client.decks.graders.update(deck_id, grader.id, shared_share=0.5, shared_raters=3)
    assert (shared.shared_share, shared.shared_raters, shared.name) == (0.5, 3, "f")
    with pytest.raises(InvalidInputError, match="shared_raters"):
        client.decks.graders.update(deck_id, grader.id, shared_raters=6)
    with pytest.raises(InvalidRequestError, match="judge"):
        client.decks.graders.update(deck_id, grader.id, status="active")
    client.decks.graders.delete(deck_id, grader.id)
    assert client.decks.graders.list(deck_id) == []
    with pytest.raises(InvalidInputError, match="levels"):
        client.decks.graders.create(deck_id, name="n", rubric={**RUBRIC, "levels": LEVELS[:6]})


def test_decks_are_made_and_walked_through_on_an_event_loop(api):
    async def make() -> list[str]:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            deck = await client.decks.create(name="summaries", system_prompt=PROMPT)
            made = await client.decks.graders.create(deck.id, name="n", rubric=RUBRIC)
            assert [one.id for one in await client.decks.graders.list(deck.id)] == [made.id]
            return [one.name async for one in client.decks.list()]

    assert asyncio.run(make()) == ["summaries"]


def pairs(count):
    return [{"input": f"question {n}", "output": f"answer {n}"} for n in range(count)]


def test_samples_are_added_whole_or_uploaded_with_what_is_wrong(api, client):
    deck_id = client.decks.create(name="summaries", system_prompt=PROMPT).id
    added = client.decks.samples.add(deck_id, pairs(2), idempotency_key="one")
    assert client.decks.samples.add(deck_id, pairs(2), idempotency_key="one") == added
    with pytest.raises(InvalidRequestError, match=r"samples\[1\]"):
        client.decks.samples.add(deck_id, [*pairs(1), {"input": "q"}])
    seen = []
    samples = [NewSample(input="q", output="a", model="m"), {"input": "q"}, *pairs(1)]
    done = client.decks.samples.upload(deck_id, samples, on_progress=seen.append)
    assert (done.accepted, [(one.line, one.field) for one in done.rejected]) == (2, [(2, "output")])
    assert seen == [done]
    listed = list(client.decks.samples.list(deck_id, page_size=3))
    assert [one.id for one in listed] == [*done.sample_ids[::-1], *(one.id for one in added[::-1])]
    assert [one.id for one in client.decks.samples.list(deck_id, model="m")] == [done.sample_ids[0]]
    halves = [
        list(client.decks.samples.list(deck_id, split=one)) for one in ("development", "holdout")
    ]
    assert sum(map(len, halves)) == 4
    whole = client.decks.samples.get(deck_id, added[0].id)
    assert whole.response["choices"][0]["message"]["content"] == "answer 0"
    client.decks.samples.delete(deck_id, added[0].id)
    with pytest.raises(NotFoundError):
        client.decks.samples.get(deck_id, added[0].id)
    for wrong in ([{"input": float("nan")}], [{"input": "\ud800"}]):
        with pytest.raises(InvalidInputError, match=r"samples\[0\]"):
            client.decks.samples.upload(deck_id, wrong)
    with pytest.raises(InvalidInputError, match="samples"):
        client.decks.samples.add(deck_id, [])


def test_an_upload_of_many_comes_in_parts_with_lines_counted_over_all(api, client, monkeypatch):
    monkeypatch.setattr("autotune.client.deck_samples.limits.MAX_BULK_SAMPLES", 4)
    deck_id = client.decks.create(name="summaries", system_prompt=PROMPT).id
    samples = [*pairs(6), {"input": "q"}, *pairs(3)]
    before = len(api.received)
    for _ in range(2):
        done = client.decks.samples.upload(deck_id, iter(samples), idempotency_key="k")
        assert (done.accepted, [one.line for one in done.rejected]) == (9, [7])
    assert len(api.received) - before == 6
    assert len(list(client.decks.samples.list(deck_id))) == 9
