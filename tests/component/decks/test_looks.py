"""Looks at held-out labels are counted for every version, whichever way somebody looks."""

from typing import Any

import pytest

from tests.support.deck_edits import EditedDeck
from tests.support.ledger import Ledger


@pytest.fixture
def deck(ledger: Ledger) -> EditedDeck:
    made = EditedDeck(ledger, number=150, holdoutShare=0.8)
    made.label(list(made.samples))
    return made


def agreement(deck: EditedDeck, **query: Any) -> dict[str, Any]:
    """Read agreement as clients do: it spends a look where the version has none."""
    answer = deck.platform.call("POST", f"{deck.grader_path}/agreement", query)
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["agreement"]
    return found


def results(deck: EditedDeck, **query: Any) -> tuple[set[str], bool]:
    """The halves of which results are listed, and whether some are withheld."""
    query = {"limit": 200, **query}
    page = deck.platform.call("GET", f"{deck.grader_path}/results", query=query).json
    return {deck.halves[one["sampleId"]] for one in page["results"]}, page["withheld"]


def graded(deck: EditedDeck) -> None:
    assert deck.finish(deck.start())["status"] == "completed"


def version_by_hand(deck: EditedDeck, said: str) -> int:
    rubric = deck.grader()["rubric"]
    body = {"rubric": {**rubric, "criteria": f"{rubric['criteria']} {said}"}}
    made = deck.platform.call("POST", f"{deck.grader_path}/versions", body)
    assert made.status == 201, made.text
    number: int = made.json["version"]["version"]
    return number


def test_versions_by_hand_spend_looks_and_their_intervals_grow(deck: EditedDeck) -> None:
    unseen = agreement(deck)
    assert (unseen["look"], unseen["looks"]) == (None, 0), "nothing is judged, so nothing is seen"
    graded(deck)
    first = agreement(deck)
    assert (first["look"], first["looks"], first["kappa"]["confidence"]) == (0, 0, 0.9)
    for number, said in enumerate(("Be fair.", "Be very fair."), start=1):
        version = version_by_hand(deck, said)
        graded(deck)
        assert results(deck) == ({"development"}, True), "they would be a look that nobody counts"
        held = deck.of("holdout")[0]
        path = f"{deck.path}/samples/{held}/results"
        of_sample = deck.platform.call("GET", path).json
        assert (len(of_sample["results"]), of_sample["withheld"]) == (number, True)
        found = agreement(deck)
        assert (found["version"], found["look"], found["looks"]) == (version, number, number)
        assert found["kappa"]["confidence"] == pytest.approx(1 - 0.1 / 2**number)
        assert found["development"]["kappa"]["confidence"] == 0.9
        assert agreement(deck) == found, "reading again spends nothing"
        assert results(deck) == ({"development", "holdout"}, False)
        assert len(deck.platform.call("GET", path).json["results"]) == number + 1
    again = agreement(deck, version=1)
    assert (again["look"], again["kappa"]) == (0, first["kappa"])
    means = deck.platform.call("GET", f"{deck.grader_path}/means").json["means"]
    assert (means["look"], means["confidence"]) == (2, pytest.approx(0.975))
    edit = deck.measure("good")
    assert (edit["look"], edit["effect"]["alpha"]) == (3, 0.00625), "one count for all ways"


def test_what_is_published_has_the_interval_of_its_look(deck: EditedDeck) -> None:
    graded(deck)
    agreement(deck)
    version_by_hand(deck, "Be fair.")
    graded(deck)
    answer = deck.platform.call("POST", f"{deck.grader_path}/publish")
    assert answer.status == 200, answer.text
    calibration = answer.json["grader"]["calibration"]
    found = agreement(deck)
    assert (found["look"], found["kappa"]["confidence"]) == (1, 0.95)
    assert calibration["low"] == pytest.approx(found["kappa"]["low"]), "publishing spent the look"
    assert calibration["kappa"] == pytest.approx(found["kappa"]["value"])


def test_results_of_an_edit_are_withheld_until_it_is_measured(deck: EditedDeck) -> None:
    edit_id = deck.propose("useless")
    deck.replay(edit_id, "development")
    answer = deck.send(f"/{edit_id}/replay", {"split": "holdout"})
    assert answer.status == 202, answer.text
    deck.finish(deck.read(answer.json["edit"]["runId"]))
    assert results(deck, version=2) == ({"development"}, True)
    held = f"{deck.path}/samples/{deck.of('holdout')[0]}/results"
    shown = deck.platform.call("GET", held).json
    assert ([one["version"] for one in shown["results"]], shown["withheld"]) == ([1], True)
    means = deck.platform.call("POST", f"{deck.grader_path}/means", {"version": 2})
    assert means.status == 409, "a mean of a candidate is a look, too"
    assert deck.edit(edit_id)["effect"]["look"] == 1
    assert results(deck, version=2) == ({"development", "holdout"}, False)


def test_a_person_who_rates_what_is_held_out_sees_no_version_without_a_look(
    deck: EditedDeck,
) -> None:
    graded(deck)
    agreement(deck)
    version_by_hand(deck, "Be fair.")
    graded(deck)

    def rated(split: str) -> Any:
        body = {"sampleId": deck.of(split)[1], "score": 1}
        answer = deck.platform.call("POST", f"{deck.grader_path}/feedback", body)
        assert answer.status in {200, 201}, answer.text
        return answer.json["result"]

    assert rated("development")["version"] == 2
    assert rated("holdout") is None
    agreement(deck)
    assert rated("holdout")["version"] == 2


def published(deck: EditedDeck) -> dict[str, Any]:
    answer = deck.platform.call("POST", f"{deck.grader_path}/publish")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["grader"]["calibration"]
    return found


def test_publishing_until_the_bound_is_reached_spends_a_look_each_time(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=150, holdoutShare=0.8)
    held = deck.of("holdout")
    deck.label(held[:45])
    graded(deck)
    answer = deck.platform.call("POST", f"{deck.grader_path}/publish").json["grader"]
    assert answer["uncalibratedBecause"] == "insufficient_labels"
    deck.label(held[45:80])
    first = published(deck)
    assert first["look"] == 0, "too few labels have spent nothing"
    found = agreement(deck)
    assert (found["looks"], found["kappa"]["low"]) == (0, pytest.approx(first["low"]))
    assert published(deck) == first, "the same labels are the same look"

    deck.label(held[80:100])
    second = published(deck)
    assert (second["look"], second["choseVersion"]) == (1, 0)
    found = agreement(deck)
    assert (found["look"], found["looks"], found["looked"]) == (0, 1, [1])
    assert second["kappa"] == pytest.approx(found["kappa"]["value"])
    assert second["low"] < found["kappa"]["low"], "its bound is at the look's own level"
    assert published(deck) == second
    deck.label(held[100:])
    assert published(deck)["look"] == 2
    version_by_hand(deck, "Be fair.")
    graded(deck)
    assert agreement(deck)["look"] == 3, "one count for all ways"


def test_a_calibration_says_which_of_its_labels_chose_the_version(deck: EditedDeck) -> None:
    edit = deck.measure("good")
    answer = deck.send(f"/{edit['id']}/accept", {"consent": True})
    assert answer.status == 200, answer.text
    calibration = published(deck)
    found = agreement(deck)
    assert calibration["choseVersion"] == found["choseVersion"] > 50
    assert calibration["look"] == found["look"] == edit["look"]


@pytest.mark.parametrize("what", ["agreement", "means"])
def test_a_figure_is_read_without_spending_and_spent_by_post(deck: EditedDeck, what: str) -> None:
    path = f"{deck.grader_path}/{what}"
    unseen = deck.platform.call("GET", path)
    assert (unseen.status, unseen.json[what]["look"]) == (200, None), "nothing is judged"
    graded(deck)
    listed = deck.platform.call("GET", f"{deck.grader_path}/edits").json
    refused = deck.platform.call("GET", path)
    assert refused.status == 409
    assert "POST" in refused.json["detail"]
    assert deck.platform.call("GET", f"{deck.grader_path}/edits").json == listed
    spent = deck.platform.call("POST", path, {})
    assert (spent.status, spent.json[what]["look"]) == (200, 0), spent.text
    read = deck.platform.call("GET", path)
    assert (read.status, read.json) == (200, spent.json)
    version_by_hand(deck, "Be fair.")
    graded(deck)
    assert deck.platform.call("GET", path).status == 409, "the next version has no look yet"
    second = deck.platform.call("POST", path, {})
    assert second.json[what]["look"] == 1
    assert deck.platform.call("GET", path).json == second.json
    assert deck.platform.call("POST", path, {}).json == second.json, "again spends nothing"
    first = deck.platform.call("GET", path, query={"version": 1}).json[what]
    assert deck.platform.call("POST", path, {"version": 1}).json[what] == first
    assert first["look"] == 0
    unknown = deck.platform.call("POST", path, {"version": 3, "versions": 1})
    assert (unknown.status, set(unknown.fields)) == (422, {"versions"})
