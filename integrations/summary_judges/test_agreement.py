"""Real judges of real summaries, through API and ledger of a running stack: their agreement.

The judge is a replay of what models said; the truth is the median of three experts. What comes out
is what is known to come out (`tests/judges/summary_figures.py`), to three decimals.
"""

from collections import defaultdict

import pytest

from tests.judges.measuring import MeasuredDeck, Rated, Shown
from tests.judges.replay import JUDGE
from tests.judges.summaries import CRITERIA, SHIFT, Rating, level
from tests.judges.summary_figures import FIGURES
from tests.judges.summary_rubrics import SYSTEM_PROMPT, rubric_of

# Without numbers in words, 159 replies on coherence have no level: one such reading is enough here.
MEASURED = {one: FIGURES[one] for one in FIGURES if one != Rating("coherence", "rts")}


@pytest.fixture
def connection_id(client, replay):
    """A connection to the replay, as to a server of one's own."""
    made = client.llm.connections.create(
        name="replay",
        provider="simulated",
        base_url=f"{replay.url}/served/v1",
        api_key="fake-key",
        prices={JUDGE: {"inputUsd": "0.1", "outputUsd": "0.4"}},
    )
    yield made.id
    client.llm.connections.revoke(made.id)


def replies_of(summaries, rating):
    """What is replied about each summary: texts alone tell it which one is meant."""
    replies = summaries.replies[JUDGE, rating.criterion, rating.prompt]
    for one in summaries.samples.values():
        yield replies[summaries.first_of_alike[one.text.digest]]


def test_agreement_with_experts_is_what_it_is_known_to_be(
    api, summaries, connection_id, replay, client
):
    deck = MeasuredDeck(api, system_prompt=SYSTEM_PROMPT, connection_id=connection_id, model=JUDGE)
    texts = list(summaries.samples.values())
    ids = deck.add_samples(Shown(one.article, one.summary, one.article_id) for one in texts)
    assert len(set(ids)) == 1_200

    ratings = defaultdict(list)
    for rating in MEASURED:
        ratings[rating.criterion].append(rating)
    graders = {one: deck.add_grader(one, rubric_of(ratings[one][0])) for one in CRITERIA}
    for criterion, grader_id in graders.items():
        deck.import_ratings(
            grader_id,
            (
                Rated(sample_id, f"expert-{number}", said[criterion] - SHIFT)
                for sample_id, one in zip(ids, texts, strict=True)
                for number, said in enumerate(one.experts)
            ),
        )

    # Both graders by their first versions at once, then the others'.
    paid = 0
    versions = {}
    for step in range(max(map(len, ratings.values()))):
        judging = {one: ratings[one][step] for one in CRITERIA if step < len(ratings[one])}
        for criterion, rating in judging.items():
            version = 1
            if step:
                version = deck.add_version(graders[criterion], rubric_of(rating))
            versions[rating] = version
        run = deck.grade([graders[one] for one in judging])
        failed = sum(
            level(reply, rating) is None
            for rating in judging.values()
            for reply in replies_of(summaries, rating)
        )
        assert run["counts"]["failed"] == failed
        paid += run["costNanoUsd"]

    found = {
        rating: deck.agreement(graders[rating.criterion], version)
        for rating, version in versions.items()
    }
    seen = {rating: (round(one["kappa"]["value"], 3), one["n"]) for rating, one in found.items()}
    assert seen == MEASURED
    for one in found.values():
        assert one["sufficient"]
        assert one["groups"] == 100
        assert one["kappa"]["low"] < one["kappa"]["value"] < one["kappa"]["high"]
        assert one["ungraded"] == 0
    # What the stack says that it paid is what the provider's bill says.
    assert paid == replay.call("GET", "/bill")["total_nano_usd"]
