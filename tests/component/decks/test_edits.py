"""The fix loop: a rubric is edited, replayed, measured on labels, accepted and taken back."""

import json
from typing import Any

import pytest

from autotune.protocol.deck_effects import ScoredShare
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.look_repository import Look, LookRepository, Looks
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.storage.table import Table
from tests.judges.planted_samples import labelled
from tests.support.deck_edits import EditedDeck
from tests.support.deck_runs import items_of
from tests.support.ledger import Ledger
from tests.support.tables import SavedTables


@pytest.fixture
def deck(ledger: Ledger) -> EditedDeck:
    # Which samples are held out follows from the organisation: with other noise, some halves take
    # the useless edit for a good one, as chance does.
    made = EditedDeck(ledger, number=240, judge_seed=8)
    made.label(list(made.samples))
    return made


def test_a_good_edit_is_measured_accepted_and_taken_back(deck: EditedDeck) -> None:
    edit_id = deck.propose("good", note="courtesy", sampleIds=deck.of("development")[:2])
    early = deck.send(f"/{edit_id}/replay", {"split": "holdout"})
    assert early.status == 409
    assert "development half first" in early.text
    tried = deck.replay(edit_id, "development")
    assert tried["status"] == "measured"
    assert tried["trial"]["delta"] > 0.2
    assert (tried["look"], tried["effect"]) == (None, None), "no look was spent"
    assert deck.send(f"/{edit_id}/accept", {}).status == 409, "it is measured on no held-out label"

    measured = deck.replay(edit_id, "holdout")
    effect = measured["effect"]
    assert (measured["look"], effect["look"], effect["alpha"]) == (1, 1, 0.025)
    assert effect["low"] > 0
    assert effect["outcome"] in {"acceptable", "needs_consent"}
    assert effect["scored"]["n"] == len(deck.of("holdout"))
    assert deck.grader()["version"] == 1, "nothing is accepted by itself"
    path = f"{deck.grader_path}/agreement"
    read = deck.platform.call("GET", path, query={"version": 2})
    spent = deck.platform.call("POST", path, {"version": 2})
    assert (read.status, spent.status) == (409, 409), "a look uncounted"
    refused = deck.platform.call("PATCH", deck.grader_path, {"version": 2})
    assert refused.status == 409, "a candidate is made current by its edit alone"

    accepted = deck.send(f"/{edit_id}/accept", {"consent": True})
    assert accepted.status == 200, accepted.text
    assert accepted.json["edit"]["status"] == "accepted"
    assert deck.grader()["version"] == 2
    version = deck.platform.call("GET", f"{deck.grader_path}/versions/2").json["version"]
    assert (version["editId"], version["candidate"], version["parent"]) == (edit_id, False, 1)
    assert version["effect"]["delta"] == effect["delta"]
    assert "Courtesy does not count" in version["rubric"]["criteria"]
    assert deck.send(f"/{edit_id}/accept", {"consent": True}).status == 200, "again is fine"
    assert deck.send(f"/{edit_id}/reject", {}).status == 409
    unread = deck.platform.call("GET", path, query={"version": 2})
    assert unread.status == 409, "its edit saw the labels until then; who reads it sees later ones"
    chose = {
        number: deck.platform.call("POST", path, {"version": number}).json["agreement"]
        for number in (1, 2)
    }
    read = deck.platform.call("GET", path, query={"version": 2})
    assert (read.status, read.json["agreement"]) == (200, chose[2])
    assert chose[2]["choseVersion"] == chose[2]["labels"] == len(deck.of("holdout"))
    assert chose[1]["choseVersion"] == 0, "nobody took it because of them"

    back = deck.send(f"/{edit_id}/rollback", {"reason": "not so sure"})
    assert (back.status, back.json["edit"]["status"]) == (200, "rolled_back")
    assert deck.grader()["version"] == 1
    still = deck.platform.call("GET", f"{deck.grader_path}/versions/2").json["version"]
    assert still == version, "nothing is overwritten"


def test_a_replay_has_a_price_before_it_is_stored(deck: EditedDeck) -> None:
    edit_id = deck.propose("good")
    before = items_of("decks", [deck.deck_id]), deck.rows(), deck.started()

    def estimated(split: str, **fields: Any) -> dict[str, Any]:
        answer = deck.send(f"/{edit_id}/estimate", {"split": split, **fields})
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json["estimate"]
        return found

    found = estimated("development")
    number = len(deck.of("development"))
    assert (found["samples"], found["requests"], found["known"]) == (number, 2 * number, 0)
    assert [one["version"] for one in found["graders"]] == [1, 2]
    assert 0 < found["estimateNanoUsd"] < found["boundNanoUsd"]
    assert (found["fits"], found["look"], found["alpha"]) == (True, None, None)
    after = items_of("decks", [deck.deck_id]), deck.rows(), deck.started()
    assert after == before, "nothing is stored, asked or started"
    early = deck.send(f"/{edit_id}/estimate", {"split": "holdout"})
    assert (early.status, "development half first" in early.text) == (409, True)
    started = deck.send(f"/{edit_id}/replay", {"split": "development"}).json["edit"]
    run = deck.finish(deck.read(started["runId"]))
    assert run["boundNanoUsd"] == found["boundNanoUsd"], "it is the price of that replay"
    assert run["costNanoUsd"] <= found["boundNanoUsd"]
    assert deck.edit(edit_id)["status"] == "measured"
    again = estimated("development")
    assert (again["requests"], again["estimateNanoUsd"]) == (0, 0), "what was judged is not paid"
    held = estimated("holdout")
    assert (held["look"], held["alpha"]) == (1, 0.025)
    assert deck.replay(edit_id, "holdout")["look"] == 1


def test_what_does_not_help_is_not_accepted_and_each_look_asks_for_more(deck: EditedDeck) -> None:
    useless = deck.measure("useless")
    assert (useless["effect"]["look"], useless["effect"]["alpha"]) == (1, 0.025)
    outcome = useless["effect"]["outcome"]
    assert outcome in {"no_evidence", "refused"}  # by chance a replay speaks against it, rarely
    assert useless["effect"]["detectable"] > 0
    answer = deck.send(f"/{useless['id']}/accept", {"consent": True})
    assert answer.status == 409
    assert ("chance" if outcome == "no_evidence" else "speaks against it") in answer.text
    again = deck.send(f"/{useless['id']}/replay", {"split": "holdout"})
    assert again.status == 409, "the same edit would say the same"

    harmful = deck.measure("harmful", acceptIfBetter=True)
    assert (harmful["effect"]["look"], harmful["effect"]["alpha"]) == (2, 0.0125)
    assert harmful["effect"]["outcome"] == "refused"
    assert "agrees_less" in harmful["effect"]["refusals"]
    assert deck.send(f"/{harmful['id']}/accept", {"consent": True}).status == 409

    rejected = deck.send(f"/{harmful['id']}/reject", {"reason": "worse"}).json["edit"]
    assert (rejected["status"], rejected["reason"]) == ("rejected", "worse")
    assert deck.send(f"/{harmful['id']}/replay", {"split": "development"}).status == 409

    good = deck.measure("good", acceptIfBetter=True)
    assert (good["effect"]["look"], good["effect"]["alpha"]) == (3, 0.00625)
    if good["effect"]["outcome"] == "needs_consent":
        assert good["status"] == "measured", "nobody consented to what is newly positive"
    else:
        assert good["status"] == "accepted"
        assert deck.grader()["version"] == good["candidateVersion"]


def test_consent_is_asked_for_what_needs_it(deck: EditedDeck) -> None:
    edit_id = deck.measure("good")["id"]
    repository = EditRepository(Table("decks", clients.dynamodb()))
    measured = SavedTables()
    for newly_positive, scored, asked in (
        (0, 3, "2 more samples get a level to which the question does not apply; accept it"),
        (4, 1, "4 samples at -3 or -2 are newly called positive; accept it"),
        (4, 2, "positive, and 1 more samples get a level to which the question does not apply"),
    ):
        edit = repository.require(deck.deck_id, deck.grader_id, edit_id)
        assert edit.effect is not None
        found = {
            "outcome": "needs_consent",
            "newly_positive": newly_positive,
            "inapplicable": ScoredShare(n=9, old=1, new=scored, holds=True),
        }
        effect = edit.effect.model_copy(update=found)
        after = edit.model_copy(update={"effect": effect, "revision": edit.revision + 1})
        assert repository.store([repository.changed(edit, after)])
        answer = deck.send(f"/{edit_id}/accept", {})
        assert answer.status == 409
        assert asked in answer.text
        assert "0 samples" not in answer.text
        assert deck.send(f"/{edit_id}/accept", {"consent": True}).status == 200
        measured.restore()


def test_an_abstaining_edit_is_refused_for_what_it_leaves_out(deck: EditedDeck) -> None:
    measured = deck.measure("abstaining")
    effect = measured["effect"]
    assert effect["outcome"] in {"refused", "no_evidence"}
    assert not effect["scored"]["holds"]
    assert deck.send(f"/{measured['id']}/accept", {"consent": True}).status == 409


def test_labels_that_are_fresh_begin_anew_and_too_few_claim_nothing(deck: EditedDeck) -> None:
    deck.measure("useless")
    moment = deck.edit(deck.propose("useless"))["createdAt"]
    good = deck.propose("good")
    deck.replay(good, "development")
    body = {"split": "holdout", "labelsSince": moment}
    answer = deck.send(f"/{good}/replay", body)
    assert answer.status == 409, "none is fresh"
    assert "a claim needs 50 and 15" in answer.text
    assert deck.edit(good)["look"] is None, "so that no look is spent"
    fresh = deck.add_planted(160, seed=9)
    deck.label([id_ for id_ in fresh if deck.halves[id_] == "holdout"])
    measured = deck.replay(good, "holdout", labelsSince=moment)
    assert (measured["look"], measured["effect"]["alpha"]) == (1, 0.025)
    assert measured["effect"]["scored"]["n"] == sum(
        deck.halves[id_] == "holdout" for id_ in fresh
    ), "fresh ones alone"


def test_a_patch_that_repeats_samples_or_does_not_apply_is_refused(deck: EditedDeck) -> None:
    first, holdout = (
        next(id_ for id_ in deck.of(half) if "nothing that" not in str(deck.patch("copying", id_)))
        for half in ("development", "holdout")
    )
    for id_ in (first, holdout):
        answer = deck.send("", {"patch": deck.patch("copying", id_)})
        assert answer.status == 422, "eight words of a sample, whichever half it is of"
        assert "patch" in answer.fields
    answer = deck.send("", {"patch": deck.patch("long")})
    assert (answer.status, "twice" in answer.text) == (422, True)
    answer = deck.send("", {"patch": deck.patch("unfounded")})
    assert answer.fields == {"patch[0].find": "a passage that the text has exactly once"}
    twice = {"field": "criteria", "find": "the", "replace": "a"}
    assert "more than once" in deck.send("", {"patch": [twice]}).text
    nothing = {"field": "level", "level": -3, "find": "nothing", "replace": "nothing"}
    assert deck.send("", {"patch": [nothing]}).status == 422
    assert deck.send("", {"patch": deck.patch("good"), "sampleIds": [holdout]}).fields == {
        "sampleIds[0]": "a sample of the development half"
    }
    stale = deck.send("", {"patch": deck.patch("good"), "baseVersion": 2})
    assert stale.status == 409

    said = deck.samples[first].text
    example = {"input": said.input, "output": said.output, "level": 1, "sampleId": first}
    made = deck.send("", {"patch": [{"field": "examples", "example": example}]})
    assert made.status == 201, made.text
    borrowed = {**example, "output": deck.samples[holdout].text.output}
    assert deck.send("", {"patch": [{"field": "examples", "example": borrowed}]}).fields == {
        "patch[0].example.output": "a passage of its sample"
    }
    told = {**example, "explanation": deck.samples[holdout].text.output}
    copied = deck.send("", {"patch": [{"field": "examples", "example": told}]})
    assert list(copied.fields) == ["patch[0].example.explanation"]
    held = {**example, "sampleId": holdout}
    assert deck.send("", {"patch": [{"field": "examples", "example": held}]}).fields == {
        "patch[0].example.sampleId": "a sample of the development half"
    }
    listed = deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"]
    assert [one["id"] for one in listed] == [made.json["edit"]["id"]]


def test_a_look_that_comes_in_between_is_counted(
    deck: EditedDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = deck.propose("useless"), deck.propose("good")
    deck.replay(first, "development")
    deck.replay(second, "development")
    read = LookRepository.looks
    between: list[int] = []

    def looks(self: LookRepository, organization_id: str, deck_id: str, grader_id: str) -> Looks:
        found = read(self, organization_id, deck_id, grader_id)
        if not between:
            between.append(1)
            base = found.after(Look(at=SYSTEM_CLOCK.now(), version=1, number=0))
            look = Look(at=SYSTEM_CLOCK.now(), version=2, edit_id=first, number=1)
            assert self.store([self.spent(deck_id, found, base.after(look))])
        return found

    monkeypatch.setattr(LookRepository, "looks", looks)
    answer = deck.send(f"/{second}/replay", {"split": "holdout"})
    assert (answer.status, answer.json["edit"]["look"]) == (202, 2)
    run = deck.read(answer.json["edit"]["runId"])
    deck.send(f"/{second}/replay", {"split": "holdout"})
    assert deck.edit(second)["runId"] == run["id"], "one that is under way stays"
    deck.platform.call("POST", f"{deck.path}/runs/{run['id']}/cancel")
    assert deck.finish(deck.read(run["id"]))["status"] == "canceled"
    stopped = deck.edit(second)
    assert (stopped["status"], stopped["unfinished"]) == ("measured", "canceled")
    assert deck.replay(second, "holdout")["effect"]["look"] == 2, "an edit spends one look"


def test_what_is_said_behind_a_look_leaves_no_sample_out(deck: EditedDeck) -> None:
    edit_id = deck.propose("good")
    deck.replay(edit_id, "development")
    answer = deck.send(f"/{edit_id}/replay", {"split": "holdout"})
    held_out = deck.of("holdout")
    # As if somebody saw what the candidate says, and would be rid of where it errs.
    said = [labelled(deck.samples[id_], "ada") for id_ in held_out]
    lines = [
        {"sampleId": id_, "rater": rater, "selection": "random", "doesNotApply": True}
        for id_, level in zip(held_out[:30], said, strict=False)
        if level is not None
        for rater in ("bob", "ada")
    ]
    raw = "\n".join(json.dumps(one) for one in lines).encode()
    path = f"{deck.grader_path}/feedback/bulk"
    assert deck.platform.call("POST", path, raw=raw).json["accepted"] == len(lines)
    deck.finish(deck.read(answer.json["edit"]["runId"]))
    effect = deck.edit(edit_id)["effect"]
    assert effect["scored"]["n"] == len(held_out)
    assert effect["inapplicable"]["n"] == sum(level is None for level in said)


def test_another_organisation_sees_no_edit(deck: EditedDeck) -> None:
    edit_id = deck.propose("good")
    stranger = deck.platform.new_organization("second")
    path = f"{deck.grader_path}/edits/{edit_id}"
    for method, below in (("GET", ""), ("POST", "/accept"), ("POST", "/replay")):
        body = {"split": "development"} if below == "/replay" else {} if below else None
        answer = deck.platform.call(method, f"{path}{below}", body, api_key=stranger)
        assert answer.status == 404
