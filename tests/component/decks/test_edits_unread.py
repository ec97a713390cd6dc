"""Edits go on while nobody reads them: the execution measures, and takes what a model answers."""

from typing import Any

from autotune_platform.decks.fixing.proposals import ProposalRepository
from functions.decks import edits_api
from tests.component.decks.test_edit_proposals import CAP, ProposingDeck
from tests.support.deck_edits import EditedDeck
from tests.support.deck_runs import items_of
from tests.support.ledger import Ledger


def stored(deck: EditedDeck, edit_id: str) -> dict[str, Any]:
    """An edit as it is stored; reading it over the API would measure it."""
    (found,) = [
        one for one in items_of("decks", [deck.deck_id]) if one["sk"]["S"].endswith(edit_id)
    ]
    return found


def ended(deck: EditedDeck, run: dict[str, Any]) -> dict[str, Any]:
    """The state of a run's execution once the run has ended."""
    state = deck.state(run)
    for _ in range(60):
        state = deck.step(state)
        if state["done"]:
            return state
        deck.ask_models(seconds=max(61, state["wait_seconds"]))
    raise AssertionError(state)


def test_a_replay_is_measured_and_accepted_without_a_reader(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=200)
    deck.label(list(deck.samples))
    edit_id = deck.propose("good")
    for split, more in (("development", {}), ("holdout", {"acceptIfBetter": True})):
        body = {"split": split, **more}
        run = deck.read(deck.send(f"/{edit_id}/replay", body).json["edit"]["runId"])
        assert deck.step_edits({**deck.state(run), "measures": True})["done"], "too early: nothing"
        assert stored(deck, edit_id)["status"]["S"] == "replaying"
        state = ended(deck, run)
        assert state["measures"], "the execution goes on to measure"
        again = deck.step(deck.state(run))
        assert (again["done"], again["measures"]) == (True, True), "where the end was lost as well"
        assert stored(deck, edit_id)["status"]["S"] == "replaying"
        assert deck.step_edits(state)["done"]
        after = stored(deck, edit_id)
        assert after["status"]["S"] in {"measured", "accepted"}
        assert deck.step_edits(state)["done"]
        assert stored(deck, edit_id) == after, "measuring again changes nothing"
    read = deck.edit(edit_id)
    assert read["effect"]["outcome"] in {"acceptable", "needs_consent"}
    is_accepted = read["effect"]["outcome"] == "acceptable"
    assert after["status"]["S"] == ("accepted" if is_accepted else "measured")


def test_a_grading_run_measures_nothing(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=4)
    assert not ended(deck, deck.start())["measures"]


def test_what_a_model_proposes_becomes_edits_without_a_reader(ledger: Ledger) -> None:
    deck = ProposingDeck(ledger)
    deck.model.proposer.edits = ["good"]
    assert deck.begin(capNanoUsd=CAP).status == 202
    (state,) = [one for one in deck.started() if "proposal" in one]
    for _ in range(20):
        state = deck.step_edits(state)
        if state["done"]:
            break
        assert state["wait_seconds"] >= 1
        deck.ask_models(seconds=max(61, state["wait_seconds"]))
    assert state["done"], state
    proposal = ProposalRepository(edits_api.parts().decks_table).get(deck.deck_id, deck.grader_id)
    assert proposal is not None
    assert proposal.status == "completed"
    assert proposal.edit_ids
    assert deck.look()["editIds"] == list(proposal.edit_ids), "a reader finds the same"
    stale = deck.step_edits({**state, "proposal": 0, "steps": 0})
    assert stale["done"], "another one came since"
    late = {**state, "proposal": 2, "steps": 0}
    assert not deck.step_edits(late)["done"], "it may be stored yet"
    assert deck.step_edits({**late, "steps": 100})["done"], "it never was"


def test_a_deck_that_was_deleted_ends_what_goes_on_with_it(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=4)
    assert deck.platform.call("DELETE", deck.path).status == 204
    state = {"deck_id": deck.deck_id, "grader_id": deck.grader_id, "proposal": 1}
    assert deck.step_edits({**state, "steps": 100})["done"]
    assert deck.step_edits({"deck_id": deck.deck_id, "run_id": "drn_x", "measures": True})["done"]
