"""Samples, runs and figures of one version of a deck's system prompt."""

from tests.support.deck_labels import LabelledDeck
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import Ledger
from tests.support.platform import Platform


def with_prompt(platform: Platform, deck_id: str, prompt: str) -> int:
    made = platform.call("POST", f"/api/v1/decks/{deck_id}/versions", {"systemPrompt": prompt})
    assert made.status == 201, made.text
    number: int = made.json["version"]["version"]
    return number


def test_figures_are_of_samples_with_the_current_prompt_unless_a_version_is_named(
    platform: Platform,
) -> None:
    deck = LabelledDeck(platform, holdoutShare=1)
    old = deck.add(*(f"old {place}" for place in range(60)))
    first = platform.call("GET", f"/api/v1/decks/{deck.id}").json["deck"]["systemPrompt"]
    with_prompt(platform, deck.id, "Be brief.")
    new = deck.add(*(f"new {place}" for place in range(70)))
    truth = {id_: place % 3 for place, id_ in enumerate([*old, *new])}
    deck.label(truth)
    deck.judged({**{id_: truth[id_] for id_ in new}, **dict.fromkeys(old, 2)})

    found = deck.get("agreement")["agreement"]
    assert (found["deckVersion"], found["labels"], found["n"]) == (2, 70, 70)
    assert found["kappa"]["value"] == 1
    before = deck.get("agreement", deckVersion=1)["agreement"]
    assert (before["deckVersion"], before["labels"], before["n"]) == (1, 60, 60)
    assert before["kappa"]["value"] == 0
    means = [deck.get("means", deckVersion=version)["means"] for version in (1, 2)]
    assert [(one["deckVersion"], one["labels"], one["naive"]) for one in means] == [
        (1, 60, 2),
        (2, 70, sum(truth[id_] for id_ in new) / 70),
    ]
    assert deck.get("means")["means"] == means[1]
    # The deck shows what was read of its current prompt.
    (noted,) = platform.call("GET", f"/api/v1/decks/{deck.id}").json["deck"]["agreement"]
    assert (noted["n"], noted["kappa"]) == (70, 1)

    # A version with the prompt of an earlier one is asked about alike: its samples count, too.
    assert with_prompt(platform, deck.id, f"{first}  \n") == 3
    assert deck.get("agreement")["agreement"] == {**before, "deckVersion": 3}
    for what in ("agreement", "means"):
        answer = platform.call("GET", f"{deck.path}/{what}", query={"deckVersion": 4})
        assert (answer.status, set(answer.fields)) == (422, {"deckVersion"})


def test_samples_and_runs_are_chosen_by_the_version_that_they_came_with(
    platform: Platform, ledger: Ledger
) -> None:
    runs = DeckRuns(ledger)
    runs.judging(lambda _: verdict(1))
    runs.add_grader()
    old = runs.add_samples("one", "two")
    with_prompt(platform, runs.deck_id, "Be brief.")
    new = runs.add_samples("three")
    for version, expected in ((1, old), (2, new)):
        listed = platform.call("GET", f"{runs.path}/samples", query={"deckVersion": version})
        assert {one["id"] for one in listed.json["samples"]} == {*expected}
        assert runs.estimate(deckVersion=version)["samples"] == len(expected)
    run = runs.finish(runs.start(deckVersion=2))
    assert (run["deckVersion"], run["samples"], run["counts"]["scored"]) == (2, 1, 1)
    both = {"deckVersion": 2, "sampleIds": new}
    refused = platform.call("POST", f"{runs.path}/runs", both)
    assert refused.status == 422
