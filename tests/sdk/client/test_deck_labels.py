"""``client.decks.labels``: rating, ground truth and figures, blocking and for an event loop."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    ConflictError,
    InvalidInputError,
    NewSample,
    NotFoundError,
)
from tests.support.decks import PROMPT, RUBRIC


@pytest.fixture
def made(client):
    """A deck that only measures, with a grader, and its samples."""
    deck = client.decks.create(name="summaries", system_prompt=PROMPT, holdout_share=1)
    grader = client.decks.graders.create(deck.id, name="faithful", rubric=RUBRIC)
    samples = [NewSample(input=f"q{place}", output="a") for place in range(4)]
    added = client.decks.samples.add(deck.id, samples)
    return (deck.id, grader.id), [sample.id for sample in added]


def test_a_sample_is_taken_rated_corrected_and_listed(client, made):
    of, ids = made
    (offer,) = client.decks.labels.offers()
    assert ((offer.deck_id, offer.grader_id), offer.grader_name) == (of, "faithful")
    given = client.decks.labels.next(*of)
    assert (given.left, given.next.selection, given.next.probability) == (4, "random", 0.25)
    sample_id = given.next.sample.id
    rated = client.decks.labels.rate(*of, sample_id, score=0, explanation="so")
    assert (rated.feedback.score, rated.feedback.saw_result, rated.result) == (0, False, None)
    again = client.decks.labels.rate(*of, sample_id, does_not_apply=True)
    assert (again.feedback.does_not_apply, again.feedback.correction) == (True, 1)
    words = [one.score for one in client.decks.labels.list(*of, sample_id=sample_id, page_size=1)]
    assert words == [0, None]
    progress = client.decks.labels.progress(*of)
    assert (progress.holdout.samples, progress.holdout.rated, progress.holdout.drawn) == (4, 1, 1)
    assert [one.rated for one in progress.raters] == [1]
    for wrong in ({}, {"score": 1, "does_not_apply": True}, {"score": 4}):
        with pytest.raises(InvalidInputError):
            client.decks.labels.rate(*of, ids[0], **wrong)
    with pytest.raises(NotFoundError):
        client.decks.labels.rate(*of, "smp_" + "0" * 26, score=1)


def test_a_file_of_ratings_leads_to_figures(client, made):
    of, ids = made
    lines = [
        {"sampleId": id_, "rater": rater, "score": place + shift, "selection": "random"}
        for rater, shift in (("ada", 0), ("bob", 2))
        for place, id_ in enumerate(ids[:2])
    ]
    done = client.decks.labels.import_ratings(*of, [*lines, {"sampleId": ids[0], "score": 9}])
    assert (done.accepted, done.repeated) == (4, 0)
    assert [(one.line, one.field) for one in done.rejected] == [(5, "score")]
    with pytest.raises(InvalidInputError):
        client.decks.labels.import_ratings(*of, [])
    apart = client.decks.labels.truths(*of, state="to_adjudicate", page_size=1)
    assert {one.sample_id for one in apart} == set(ids[:2])
    assert client.decks.labels.next(*of, task="adjudication").left == 2
    settled = client.decks.labels.adjudicate(*of, ids[0], score=1)
    assert (settled.score, settled.source) == (1, "adjudicated")
    with pytest.raises(ConflictError):
        client.decks.labels.adjudicate(*of, ids[3], score=1)
    assert list(client.decks.labels.truths(*of, to_review=True)) == []
    found = client.decks.labels.agreement(*of, version=1)
    assert (found.kappa.value, found.kappa.undefined_because) == (None, "no_pairs")
    assert (found.labels, found.to_adjudicate, found.ungraded) == (1, 1, 1)
    assert list(client.decks.labels.disagreements(*of, truth=1, score=-1)) == []
    assert client.decks.labels.patterns(*of).n == 0
    assert client.decks.labels.means(*of, model="m").naive is None


def test_an_event_loop_rates_too(api, made):
    of, _ = made

    async def rate():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            given = await client.decks.labels.next(*of)
            await client.decks.labels.rate(*of, given.next.sample.id, score=2)
            return [one.score async for one in client.decks.labels.truths(*of)]

    assert asyncio.run(rate()) == [2]


def test_labels_are_exported_by_both_clients(api, client, made):
    of, ids = made
    deck_id, grader_id = of
    client.decks.labels.rate(*of, ids[0], score=1, explanation="so")
    (found,) = client.decks.labels.export(deck_id, grader_id=grader_id, results=True, page_size=1)
    assert (found.sample_id, found.truth.score, found.result) == (ids[0], 1, None)
    lines = [one.model_dump(by_alias=True, exclude_none=True) for one in found.ratings]
    assert client.decks.labels.import_ratings(*of, lines).repeated == 1

    async def read():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as other:
            return [one.sample_id async for one in other.decks.labels.export(deck_id)]

    assert asyncio.run(read()) == [ids[0]]
