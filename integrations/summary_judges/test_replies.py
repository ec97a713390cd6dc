"""What real judges said of real summaries agrees with people as much as it is known to.

It runs where ``AUTOTUNE_DATA_JUDGES`` names the folder, which is no part of this repository.
"""

import json
import re
from collections import Counter

import pytest

from tests.judges.replay import JUDGE, Replay
from tests.judges.summaries import CRITERIA, SHIFT, Rating, level
from tests.judges.summary_figures import FIGURES
from tests.judges.summary_rubrics import rubric_of
from tests.judges.writing import judge_messages
from tests.providers.answers import Ask
from tests.support.summary_levels import FOLDER as LEVELS
from tests.support.summary_levels.writing import written


@pytest.fixture(scope="session")
def replay(summaries):
    return Replay(summaries)


def judged(replay, rating, summary):
    """The level that the replay's answer says; None if it says none."""
    system, user = judge_messages(rubric_of(rating), summary.text)
    answer = replay(Ask(JUDGE, system["content"], (user["content"],)))
    found = re.findall(r"^VERDICT: (-?\d)$", answer, re.MULTILINE)
    assert len(found) <= 1
    return int(found[0]) if found else None


def kappa(pairs):
    seen = sum((one - other) ** 2 for one, other in pairs) / len(pairs)
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(
        (one - other) ** 2 * count * times
        for one, count in first.items()
        for other, times in second.items()
    )
    return 1 - seen / (chance / len(pairs) ** 2)


@pytest.mark.parametrize("rating", FIGURES, ids=str)
def test_agreement_is_what_it_is_known_to_be(replay, summaries, rating):
    pairs = [
        (judged(replay, rating, one), one.truth(rating.criterion))
        for one in summaries.samples.values()
    ]
    scored = [pair for pair in pairs if pair[0] is not None]
    assert len(pairs) == 1_200
    assert (round(kappa(scored), 3), len(scored)) == FIGURES[rating]


def test_the_levels_that_are_tested_without_texts_are_those_of_the_replies(summaries):
    assert (LEVELS / "levels.json").read_text("utf-8") == written(summaries)


def test_fifteen_summaries_are_word_for_word_another_systems(summaries):
    alike = len(summaries.samples) - len(summaries.first_of_alike)
    assert alike == 15
    assert len({one.article_id for one in summaries.samples.values()}) == 100
    assert len({one.article for one in summaries.samples.values()}) == 100


def test_seventeen_samples_become_positive_which_people_found_bad(replay, summaries):
    before, after = (Rating("coherence", prompt) for prompt in ("altrts", "mcq"))
    newly = [
        one
        for one in summaries.samples.values()
        if one.truth("coherence") == -2
        and judged(replay, after, one) > 0 >= judged(replay, before, one)
    ]
    assert len(newly) == 17


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_committed_levels_are_those_of_the_data(summaries, criterion):
    committed = json.loads((LEVELS / "levels.json").read_text("utf-8"))[criterion]
    samples = list(summaries.samples.values())

    def places(system):
        return [samples[at].article_id for at in range(system * 100, system * 100 + 100)]

    assert all(places(system) == places(0) for system in range(12))
    for name, systems in committed.items():
        model, _, prompt = name.partition(" ")
        if model == "expert":
            said = [one.experts[int(prompt) - 1][criterion] for one in samples]
        else:
            rating = Rating(criterion, prompt.removesuffix(" words"), prompt.endswith(" words"))
            replies = summaries.replies[model, criterion, rating.prompt]
            levels = [level(replies[one.id], rating) for one in samples]
            said = ["-" if found is None else found + SHIFT for found in levels]
        assert "".join(systems) == "".join(map(str, said)), name
