"""Looks are counted by labels: a grader made anew with the same ones goes on counting."""

import random
from typing import Any

import pytest

from autotune_platform.decks.shared_looks import are_same
from tests.judges.measuring import wire
from tests.judges.planted_samples import RUBRIC
from tests.support.deck_edits import EditedDeck
from tests.support.ledger import Ledger

HELD_OUT = 40


@pytest.fixture
def deck(ledger: Ledger) -> EditedDeck:
    made = EditedDeck(ledger, number=HELD_OUT, holdoutShare=1)
    made.label(list(made.samples))
    return made


def looked(deck: EditedDeck, **query: Any) -> int | None:
    """Read the agreement of a version; return the number of its look."""
    answer = deck.platform.call("POST", f"{deck.grader_path}/agreement", query)
    assert answer.status == 200, answer.text
    number: int | None = answer.json["agreement"]["look"]
    return number


def graded(deck: EditedDeck) -> None:
    body = {"graderIds": [deck.grader_id]}
    assert deck.finish(deck.start(**body))["status"] == "completed"


def version_by_hand(deck: EditedDeck) -> None:
    rubric = deck.grader()["rubric"]
    body = {"rubric": {**rubric, "criteria": f"{rubric['criteria']} Be fair."}}
    made = deck.platform.call("POST", f"{deck.grader_path}/versions", body)
    assert made.status == 201, made.text
    graded(deck)


def anew(deck: EditedDeck, name: str) -> None:
    """Make the same grader once more, and go on with it."""
    judge = deck.grader()["judge"]
    deck.grader_id = deck.add_grader(name=name, rubric=wire(RUBRIC), judge=judge)
    deck.grader_path = f"{deck.path}/graders/{deck.grader_id}"


def test_a_copy_with_the_same_labels_goes_on_counting(deck: EditedDeck) -> None:
    graded(deck)
    assert looked(deck) == 0
    version_by_hand(deck)
    assert looked(deck) == 1
    original = deck.grader_path

    anew(deck, "copy")
    deck.label(list(deck.samples))
    graded(deck)
    shown = deck.platform.call("GET", f"{deck.grader_path}/results", query={"limit": 100}).json
    assert (shown["results"], shown["withheld"]) == ([], True), "the first one was free already"
    assert looked(deck) == 2
    version_by_hand(deck)
    assert (looked(deck), looked(deck, version=1)) == (3, 2), "again spends nothing"
    deck.grader_path = original
    assert looked(deck) == 1, "what came later makes no earlier look dearer"


def test_labels_that_come_behind_a_free_look_are_counted_all_the_same(deck: EditedDeck) -> None:
    graded(deck)
    assert looked(deck) == 0
    version_by_hand(deck)
    assert looked(deck) == 1
    anew(deck, "copy")
    graded(deck)
    # Who is shown results brings no blind labels any more.
    other = deck.platform.new_key("admin", principal_id="eve")
    path = f"{deck.grader_path}/results"
    shown = deck.platform.call("GET", path, query={"limit": 100}, api_key=other).json
    assert not shown["withheld"], "it has no labels, so that there is nothing to compare with"
    deck.label(list(deck.samples))
    assert looked(deck) == 2


def test_a_grader_of_another_question_counts_its_own_looks(deck: EditedDeck) -> None:
    graded(deck)
    assert looked(deck) == 0
    version_by_hand(deck)
    assert looked(deck) == 1
    anew(deck, "another")
    chosen = random.Random(3)
    planted = list(deck.samples.values())
    chosen.shuffle(planted)
    deck.samples = dict(zip(deck.samples, planted, strict=True))
    deck.label(list(deck.samples))
    graded(deck)
    assert looked(deck) == 0


def test_labels_are_the_same_where_few_of_many_differ() -> None:
    chosen = random.Random(1)
    mine = {str(place): chosen.randint(-3, 3) for place in range(60)}
    apart = dict(mine)
    for place in range(8):
        apart[str(place)] = None
    assert are_same(mine, mine)
    assert are_same(mine, apart)
    assert are_same(mine, {id_: mine[id_] for id_ in list(mine)[:30]}), (
        "half of them, brought along"
    )
    assert not are_same(mine, {id_: -level for id_, level in mine.items()})
    assert not are_same(mine, {id_: chosen.randint(-3, 3) for id_ in mine})
    assert not are_same(mine, {f"other {id_}": level for id_, level in mine.items()})
    assert not are_same({"1": 1}, {"1": 1}), "too few to say"
    skewed = {id_: 3 if place else 2 for place, id_ in enumerate(mine)}
    other = {id_: 3 if place - 1 else 2 for place, id_ in enumerate(mine)}
    assert not are_same(skewed, other), "both nearly always at one level, and that is all"
