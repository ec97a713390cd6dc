"""Whatever a request about an edit is killed in: looks are spent once, and no version is lost."""

import contextlib
from typing import Any
from unittest.mock import patch

import pytest

from autotune_platform.decks.fixing.deciding import EditDeciding
from tests.support.deck_edits import EditedDeck
from tests.support.deck_runs import items_of
from tests.support.killing import Killer
from tests.support.ledger import Ledger


@pytest.fixture
def deck(ledger: Ledger) -> EditedDeck:
    made = EditedDeck(ledger, number=90, holdoutShare=0.8)
    made.label(list(made.samples))
    return made


def spent(deck: EditedDeck) -> int:
    """How many looks at the grader's held-out labels were spent, without the first version's."""
    found = [one for one in items_of("decks", [deck.deck_id]) if one["sk"]["S"].startswith("looks")]
    looks = [look["M"] for one in found for look in one["spent"]["L"]]
    return sum(look["number"]["N"] != "0" for look in looks)


def writes_of(called: list[str]) -> list[int]:
    """The places of calls that may change something."""
    reads = {"GetItem", "BatchGetItem", "Query", "GetObject"}
    return [place for place, name in enumerate(called) if name not in reads]


def killed(deck: EditedDeck, killer: Killer, below: str, body: Any, *, after: int) -> None:
    """Post to an edit, and end the function after so many of its calls."""
    killer.called.clear()
    killer.kill("after-call", after=after)
    try:
        # What starts an execution, and the audit log, may fail without a word.
        assert deck.send(below, body).status in {202, 500}
    finally:
        killer.spare()


def test_a_replay_that_is_killed_anywhere_spends_one_look(deck: EditedDeck) -> None:
    killer = Killer()
    killer.spare()
    whole = deck.propose("useless")
    deck.replay(whole, "development")
    killer.called.clear()
    assert deck.send(f"/{whole}/replay", {"split": "holdout"}).status == 202
    places = writes_of(killer.called)
    assert deck.finish(deck.read(deck.edit(whole)["runId"]))["status"] == "completed"
    assert deck.edit(whole)["effect"]["look"] == 1
    assert len(places) >= 3, killer.called
    for number, place in enumerate(places, start=2):
        edit_id = deck.propose("useless", note=str(place))
        deck.replay(edit_id, "development")
        killed(deck, killer, f"/{edit_id}/replay", {"split": "holdout"}, after=place)
        again = deck.send(f"/{edit_id}/replay", {"split": "holdout"})
        assert again.status == 202, again.text
        edit = again.json["edit"]
        assert (edit["status"], edit["look"], spent(deck)) == ("replaying", number, number)
        run = deck.read(edit["runId"])
        assert run["kind"] == "replay"
        deck.sweep()
        assert deck.finish(run)["status"] == "completed"
        assert deck.edit(edit_id)["effect"]["look"] == number


def test_a_decision_that_is_killed_anywhere_is_made_once(deck: EditedDeck) -> None:
    killer = Killer()
    killer.spare()
    good = deck.measure("good")
    assert good["effect"]["outcome"] in {"acceptable", "needs_consent"}, good["effect"]
    path = f"/{good['id']}"
    for below, status, version in (("accept", "accepted", 2), ("rollback", "rolled_back", 1)):
        body: dict[str, Any] = {"consent": True} if below == "accept" else {}
        for place in range(40):
            revisions = deck.grader()["version"], deck.edit(good["id"])["status"]
            killer.called.clear()
            killer.kill("after-call", after=place)
            try:
                answer = deck.send(f"{path}/{below}", body)
            finally:
                killer.spare()
            now = deck.grader()["version"], deck.edit(good["id"])["status"]
            assert now in {revisions, (version, status)}, "both change, or none"
            if answer.status == 200:
                break
        assert now == (version, status)


def test_an_acceptance_beforehand_outlives_who_measured(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=240, judge_seed=8)
    deck.label(list(deck.samples))
    edit_id = deck.propose("good", note="courtesy")
    deck.replay(edit_id, "development")
    bob = deck.platform.new_key("training_operator", principal_id="bob")
    started = deck.platform.call(
        "POST",
        f"{deck.grader_path}/edits/{edit_id}/replay",
        {"split": "holdout", "acceptIfBetter": True},
        api_key=bob,
    )
    assert started.status == 202, started.text
    lost: list[str] = []

    def killed_there(self: EditDeciding, edit: Any) -> Any:
        lost.append(edit.status)
        raise RuntimeError("killed between measuring and accepting")

    with patch.object(EditDeciding, "accepted_beforehand", killed_there):
        deck.finish(deck.read(started.json["edit"]["runId"]))
        with contextlib.suppress(RuntimeError):
            deck.platform.call("GET", f"{deck.grader_path}/edits/{edit_id}")
    assert lost, "it was measured, and not accepted"
    found = deck.edit(edit_id)
    assert (found["effect"]["outcome"], found["status"]) == ("acceptable", "accepted")
    assert (found["createdBy"] == "bob", found["decidedBy"]) == (False, "bob")
    assert deck.grader()["version"] == found["candidateVersion"]


def test_an_acceptance_beforehand_ends_with_its_base(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=240, judge_seed=8)
    deck.label(list(deck.samples))
    edit_id = deck.propose("good", note="courtesy")
    deck.replay(edit_id, "development")
    started = deck.send(f"/{edit_id}/replay", {"split": "holdout", "acceptIfBetter": True})
    rubric = deck.grader()["rubric"]
    other = {"rubric": {**rubric, "criteria": rubric["criteria"] + " Be strict."}}
    assert deck.platform.call("POST", f"{deck.grader_path}/versions", other).status == 201
    deck.finish(deck.read(started.json["edit"]["runId"]))
    found = deck.edit(edit_id)
    assert (found["effect"]["outcome"], found["status"]) == ("acceptable", "measured")
    back = deck.platform.call("PATCH", deck.grader_path, {"version": 1})
    assert back.status == 200, back.text
    assert deck.edit(edit_id)["status"] == "measured", "nobody would expect it by now"
    assert deck.send(f"/{edit_id}/accept", {}).json["edit"]["status"] == "accepted"
