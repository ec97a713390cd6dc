"""Edits that a model proposes: from disagreements of the development half, and of nothing else."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.decks.fixing import guarding, proposals, showing
from autotune_platform.decks.fixing.guarding import READING
from autotune_platform.decks.labels import disagreements
from autotune_platform.decks.labels.repository import LabelRepository
from functions.decks import edits_api
from tests.judges.layout import judge_prompt
from tests.judges.models import PROPOSING_MODEL
from tests.providers.answers import Ask
from tests.support.deck_edits import PRICES, EditedDeck
from tests.support.killing import Killed, Killer
from tests.support.ledger import Ledger, later

CAP = 10**10


class ProposingDeck(EditedDeck):
    """A deck whose development half is judged, and a model that proposes edits."""

    def __init__(self, ledger: Ledger, *, number: int = 70) -> None:
        super().__init__(ledger, number=number)
        self.label(list(self.samples), explanation="it counts courtesy")
        self.grade()
        prices = {PROPOSING_MODEL: next(iter(PRICES.values()))}
        self.proposer = {
            "connectionId": ledger.connect(maxWaitSeconds=0, prices=prices),
            "model": PROPOSING_MODEL,
            "params": {"maxTokens": 500},
        }
        self.proposed: list[str] = []
        model = self.model

        def answer(ask: Ask) -> Any:
            if judge_prompt(ask) is None:
                self.proposed.append("\n".join(ask.texts))
            return model(ask)

        ledger.fake.world.answers.answerer = answer

    def grade(self) -> None:
        """Have all samples judged by the current version."""
        assert self.finish(self.start())["status"] == "completed"

    def begin(self, **fields: Any) -> Any:
        """Have the model asked."""
        body = {"proposer": self.proposer, "capNanoUsd": CAP, **fields}
        return self.send("/proposals", body)

    def look(self) -> dict[str, Any]:
        """Read the proposal, which goes on with it."""
        answer = self.platform.call("GET", f"{self.grader_path}/edits/proposals")
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json["proposal"]
        return found

    def look_later(self) -> None:
        """Go on with the proposal as a request does that comes after as much time as has passed."""
        with later(timedelta(seconds=self.ledger.passed)):
            self.look_at_once()

    def look_at_once(self) -> None:
        """Go on with the proposal as a request does, at the time that the clock has by now."""
        made = edits_api.parts()
        caller = made.row_orders.caller_for(self.organization_id)
        made.edit_proposing.get(caller, self.deck_id, self.grader_id)

    def end(self) -> dict[str, Any]:
        """Let models answer until the proposal has ended; return it."""
        for _ in range(10):
            self.ask_models()
            self.look_later()
            found = self.look()
            if found["status"] not in {"coding", "merging", "patching"}:
                return found
        raise AssertionError(f"it does not end: {found}")


@pytest.fixture
def deck(ledger: Ledger) -> ProposingDeck:
    return ProposingDeck(ledger)


def test_a_model_finds_what_is_wrong_and_sees_nothing_that_is_held_out(
    deck: ProposingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck.model.proposer.edits = ["good"]
    started = deck.begin()
    assert started.status == 202, started.text
    assert started.json["proposal"]["status"] == "coding"
    assert deck.begin().status == 409, "one at a time"
    found = deck.end()
    assert (found["status"], found["refused"]) == ("completed", []), found
    assert 0 < found["costNanoUsd"] <= CAP
    assert "takes courtesy for help" in {one["name"] for one in found["patterns"]}
    for pattern in found["patterns"]:
        assert set(pattern["sampleIds"]) <= set(deck.of("development"))
    assert len(found["editIds"]) == len(found["patterns"])
    edit = deck.edit(found["editIds"][0])
    assert (edit["origin"], edit["status"], edit["baseVersion"]) == ("model", "proposed", 1)
    assert edit["pattern"]["name"] == found["patterns"][0]["name"]
    assert edit["note"] == "This edit is good."
    assert deck.replay(edit["id"], "development")["trial"]["delta"] > 0

    assert len(deck.proposed) == found["shown"] + 1 + len(found["patterns"])
    assert seen(deck, "development")
    assert not seen(deck, "holdout"), "what is held out is in prompts of grading alone"
    rows = [one for one in deck.rows() if one["purpose"] == "rubric_edit"]
    assert len(rows) == len(deck.proposed)
    assert sum(one["costNanoUsd"] for one in rows) == found["costNanoUsd"]

    # The guard is the split: without it the search finds what is held out.
    for module in (showing, disagreements):
        monkeypatch.setattr(module, "development", list)
    read = LabelRepository.truths
    monkeypatch.setattr(
        LabelRepository, "truths", lambda self, grader_id, split=None: read(self, grader_id)
    )
    assert deck.begin().status == 202
    deck.end()
    assert seen(deck, "holdout")


def seen(deck: ProposingDeck, split: str) -> set[str]:
    """The samples of a half whose token stands in a prompt that was no judge's."""
    return {
        id_ for id_ in deck.of(split) if any(deck.tokens[id_] in prompt for prompt in deck.proposed)
    }


def test_patches_that_repeat_samples_or_do_not_apply_become_no_edits(deck: ProposingDeck) -> None:
    deck.model.proposer.edits = ["unfounded", "long"]
    assert deck.begin(samples=20).status == 202
    found = deck.end()
    assert (found["status"], found["editIds"]) == ("completed", [])
    because = [one["because"] for one in found["refused"]]
    assert any("it is not there" in one for one in because), because
    assert all("it is not there" in one or "twice" in one for one in because)
    deck.model.proposer.edits = ["copying"]
    assert deck.begin().status == 202
    found = deck.end()
    copied = [one["because"] for one in found["refused"]]
    assert any("it copies from sample" in one for one in copied), found


def test_a_cap_stops_a_proposal_and_too_small_a_one_begins_none(deck: ProposingDeck) -> None:
    refused = deck.begin(capNanoUsd=1)
    assert refused.status == 422
    least = int(refused.fields["capNanoUsd"].split()[2].rstrip(","))
    assert deck.begin(capNanoUsd=least).status == 202
    found = deck.end()
    assert found["status"] in {"stopped", "completed"}
    assert found["costNanoUsd"] <= least
    assert deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"] == [] or (
        found["status"] == "completed"
    )


def test_a_proposal_that_is_killed_anywhere_asks_and_makes_each_edit_once(
    deck: ProposingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So many kills at the same place are no chance: its answers would not be read any more.
    for module in (guarding, proposals):
        monkeypatch.setattr(module, "LOST_STEPS", 1_000)
    killer = Killer()
    killer.spare()
    assert deck.begin(samples=3).status == 202
    for place in range(60):
        deck.ask_models(seconds=READING.total_seconds() + 1)
        killer.called.clear()
        killer.kill("after-call", after=place)
        try:
            deck.look_later()
        except Killed:
            pass
        finally:
            killer.spare()
        if deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"] and place > 20:
            break
    found = deck.end()
    assert found["status"] == "completed"
    edits = deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"]
    assert sorted(one["id"] for one in edits) == sorted(found["editIds"])
    rows = [one for one in deck.rows() if one["purpose"] == "rubric_edit"]
    assert len(rows) == len(deck.proposed) == 3 + 1 + len(found["patterns"])
    assert sum(one["costNanoUsd"] for one in rows) == found["costNanoUsd"]


def spent_by(deck: ProposingDeck) -> int:
    """What the list of decks says that the deck has cost."""
    decks = deck.platform.call("GET", "/api/v1/decks").json["decks"]
    found: int = next(one["spentNanoUsd"] for one in decks if one["id"] == deck.deck_id)
    return found


def test_what_a_proposal_costs_is_said_before_and_booked_after(deck: ProposingDeck) -> None:
    deck.model.proposer.edits = ["good", "unfounded"]
    before, rows = spent_by(deck), len(deck.rows())
    answer = deck.send("/proposals/estimate", {"proposer": deck.proposer})
    assert answer.status == 200, answer.text
    said = answer.json["estimate"]
    assert said["requests"] == said["shown"] + 1 + 7
    assert 0 < said["leastCapNanoUsd"] < said["boundNanoUsd"]
    assert 0 < said["estimateNanoUsd"] < said["boundNanoUsd"]
    assert said["fits"]
    assert len(deck.rows()) == rows, "nothing was asked"
    assert deck.look() is None, "nothing was stored"

    refused = deck.begin(capNanoUsd=said["leastCapNanoUsd"] - 1)
    assert str(said["leastCapNanoUsd"]) in refused.fields["capNanoUsd"]
    assert deck.begin(capNanoUsd=said["boundNanoUsd"]).status == 202
    found = deck.end()
    assert found["status"] == "completed", "the bound is enough"
    assert found["shown"] == said["shown"]
    assert spent_by(deck) - before == found["costNanoUsd"] > 0
    costs = [deck.edit(id_)["proposalCostNanoUsd"] for id_ in found["editIds"]]
    patterns = len(found["patterns"])
    assert all(cost > 0 for cost in costs)
    if len(costs) == patterns:
        assert found["costNanoUsd"] - patterns < sum(costs) <= found["costNanoUsd"]
    else:
        assert sum(costs) < found["costNanoUsd"], "what was refused was paid, too"


def test_a_proposal_is_canceled_and_asks_nothing_more(deck: ProposingDeck) -> None:
    assert deck.send("/proposals/cancel", None).json["proposal"] is None
    before = spent_by(deck)
    assert deck.begin(samples=5).status == 202
    answer = deck.send("/proposals/cancel", None)
    assert answer.status == 200, answer.text
    found = answer.json["proposal"]
    assert found["cancelRequestedAt"]
    found = deck.end()
    assert (found["status"], found["editIds"]) == ("canceled", [])
    assert deck.proposed == [], "no model was asked"
    assert spent_by(deck) - before == found["costNanoUsd"] == 0
    assert deck.send("/proposals/cancel", None).json["proposal"] == found, "an end stays"
    assert deck.begin(samples=1).status == 202, "the next one begins"


def test_a_proposal_is_canceled_between_its_stages_with_what_it_paid(deck: ProposingDeck) -> None:
    before = spent_by(deck)
    assert deck.begin(samples=5).status == 202
    deck.ask_models()
    deck.look_later()
    assert deck.look()["status"] == "merging"
    deck.send("/proposals/cancel", None)
    found = deck.end()
    assert found["status"] == "canceled"
    assert len(deck.proposed) == 5, "nothing was asked behind the names"
    assert spent_by(deck) - before == found["costNanoUsd"] > 0
    rows = [one for one in deck.rows() if one["purpose"] == "rubric_edit"]
    assert sum(one["costNanoUsd"] or 0 for one in rows) == found["costNanoUsd"]


def test_a_canceled_proposal_keeps_the_patches_that_were_answered(deck: ProposingDeck) -> None:
    deck.model.proposer.edits = ["good"]
    assert deck.begin(samples=5).status == 202
    for stage in ("merging", "patching"):
        deck.ask_models()
        deck.look_later()
        assert deck.look()["status"] == stage
    deck.ask_models()
    deck.send("/proposals/cancel", None)
    found = deck.end()
    assert found["status"] == "completed", "all of it was answered before"
    assert len(found["editIds"]) == len(found["patterns"])


def test_what_was_asked_of_another_version_is_paid_and_ended(deck: ProposingDeck) -> None:
    before = spent_by(deck)
    assert deck.begin(samples=5).status == 202
    deck.ask_models()
    grader = deck.grader()
    rubric = {**grader["rubric"], "criteria": grader["rubric"]["criteria"] + " Say so."}
    changed = deck.platform.call(
        "POST", f"{deck.grader_path}/versions", {"rubric": rubric, "judge": grader["judge"]}
    )
    assert changed.status in {200, 201}, changed.text
    found = deck.end()
    assert (found["status"], found["failedBecause"]) == ("failed", "grader_changed")
    assert spent_by(deck) - before == found["costNanoUsd"] > 0
