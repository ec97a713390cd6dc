"""Whoever deletes a sample, or its deck, has its texts gone from all that had it as an example."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.decks import erasing
from autotune_platform.decks.labels.pool import SamplePool
from tests.support.clock import TurnedClock
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.decks import RUBRIC
from tests.support.kept import kept
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import Ledger

SECRET = "Mrs Miller of Elm Street"


class CitingDeck(DeckRuns):
    """A deck with a grader that has a sample as an example: in a version, an edit, published."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger, holdoutShare=0)
        self.judging(lambda _: verdict(1))
        self.other, self.sample_id = self.add_samples("nothing", f"It was {SECRET}.")
        self.example = {
            "input": "Summarise document 1",
            "output": f"It was {SECRET}.",
            "level": 1,
            "explanation": f"It names {SECRET}.",
            "sampleId": self.sample_id,
        }
        self.grader_id = self.add_grader()
        self.grader_path = f"{self.path}/graders/{self.grader_id}"
        edits = f"{self.grader_path}/edits"
        change = {"field": "examples", "example": self.example}
        made = self.platform.call("POST", edits, {"patch": [change]})
        assert made.status == 201, made.text
        self.edit_path = f"{edits}/{made.json['edit']['id']}"
        self.new_version(self.grader_id, examples=[*RUBRIC["examples"], self.example])
        self.published = self.publish()

    def publish(self) -> dict[str, Any]:
        answer = self.platform.call("POST", f"{self.grader_path}/publish")
        assert answer.status == 200, answer.text
        grader: dict[str, Any] = answer.json["grader"]
        return grader

    def registered(self) -> dict[str, Any]:
        path = f"/api/v1/graders/{self.published['published']['graderId']}"
        found: dict[str, Any] = self.platform.call("GET", path).json["grader"]
        return found

    def delete(self, sample_id: str) -> int:
        return self.platform.call("DELETE", f"{self.path}/samples/{sample_id}").status


def places() -> list[str]:
    """Where the secret is kept; what is compressed is taken apart."""
    return [f"{one.place}: {one.key}" for one in kept() if SECRET in str(one.item)]


@pytest.fixture
def deck(ledger: Ledger) -> CitingDeck:
    return CitingDeck(ledger)


def test_a_deleted_sample_is_gone_from_versions_edits_and_what_is_published(
    deck: CitingDeck,
) -> None:
    assert len([one for one in places() if "audit" not in one]) >= 3, places()
    before = deck.registered()
    path = f"{deck.grader_path}/versions/2"
    version = deck.platform.call("GET", path).json["version"]
    assert deck.delete(deck.other) == 204
    assert deck.platform.call("GET", path).json["version"] == version, "it is cited nowhere"
    assert deck.delete(deck.sample_id) == 204
    assert places() == []
    erased = {**deck.example, "input": "", "output": "", "explanation": ""}
    after = deck.platform.call("GET", path).json["version"]
    assert after["rubric"]["examples"][1] == erased
    assert after["erased"] == [deck.sample_id]
    assert after["digest"] == version["digest"], "it names what was judged by"
    assert after["rubric"]["examples"][0] == version["rubric"]["examples"][0]
    edit = deck.platform.call("GET", deck.edit_path).json["edit"]
    assert (edit["patch"][0]["example"], edit["erased"]) == (erased, [deck.sample_id])
    now = deck.registered()
    assert now["version"] != before["version"], "it asks something else"
    assert now["rubric"]["answer"]["examples"][1]["output"] == ""
    assert deck.delete(deck.sample_id) == 404
    assert deck.publish()["published"]["graderVersion"] == now["version"]


def test_a_judge_is_shown_no_example_without_texts(deck: CitingDeck) -> None:
    assert deck.delete(deck.sample_id) == 204
    assert deck.finish(deck.start())["status"] == "completed"
    (ask,) = deck.asked
    assert "Sky: blue." in ask.prompt, "the other example is there"
    assert ask.prompt.count("<example-") == 1


def test_a_version_that_is_stored_while_its_sample_goes_is_blanked(
    deck: CitingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = SamplePool.get_many

    def gone_then(self: SamplePool, deck_id: str, sample_ids: Any) -> Any:
        found = read(self, deck_id, sample_ids)
        monkeypatch.setattr(SamplePool, "get_many", read)
        assert deck.delete(deck.sample_id) == 204
        return found

    monkeypatch.setattr(SamplePool, "get_many", gone_then)
    deck.new_version(deck.grader_id, examples=[deck.example])
    assert places() == []
    version = deck.platform.call("GET", f"{deck.grader_path}/versions/3").json["version"]
    assert version["erased"] == [deck.sample_id]


def test_a_deleted_deck_leaves_no_text_of_its_samples_in_what_is_published(
    deck: CitingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = TurnedClock()
    erase = erasing.DeckErasure.erase

    def erase_by_it(self: erasing.DeckErasure, **named: Any) -> int:
        self.clock = clock
        return erase(self, **named)

    monkeypatch.setattr(erasing.DeckErasure, "erase", erase_by_it)
    assert deck.platform.call("DELETE", deck.path).status == 204
    clock.ahead = timedelta(hours=1, seconds=1)
    assert handler("functions.decks.erase_decks")({}, LambdaContext(300))["decks"] == 1
    assert places() == []
    answer = deck.registered()["rubric"]["answer"]
    assert answer["examples"][0]["output"] == "Sky: blue.", "it is no sample"
    assert answer["examples"][1]["output"] == ""
