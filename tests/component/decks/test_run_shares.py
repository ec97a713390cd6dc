"""Steps of runs hold functions for minutes: each organisation has a share of them."""

from contextlib import ExitStack

import pytest

from autotune_platform.ledger.step_shares import StepShares
from tests.support.deck_runs import DeckRuns, counted, verdict
from tests.support.ledger import Ledger

FUNCTIONS = 8  # two of an organisation, six of all


@pytest.fixture
def runs(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> DeckRuns:
    monkeypatch.setenv("SLOW_FUNCTIONS", str(FUNCTIONS))
    made = DeckRuns(ledger)
    made.judging(lambda _: verdict(1))
    made.add_grader()
    made.add_samples("alpha", "beta")
    return made


def shares() -> StepShares:
    from functions.decks import advance_deck_run

    return advance_deck_run.parts().deck_run_steps.shares


def test_a_step_beyond_its_organisations_share_asks_nothing_and_waits_in_its_execution(
    runs: DeckRuns,
) -> None:
    run = runs.start()
    own = runs.platform.me()["organizationId"]
    state = runs.state(run)
    with ExitStack() as held:
        for _ in range(2):
            assert held.enter_context(shares().place(own, 300))
        for _ in range(3):
            state = runs.step(state)
            assert not state["done"]
            assert 30 <= state["wait_seconds"] <= 90
            runs.ledger.passed += state["wait_seconds"] + 60
            assert runs.sweep() == 0, "what waits for its share is not lost"
        assert runs.rows() == []
    ended = runs.finish(run)
    assert (ended["status"], counted(ended)["scored"]) == ("completed", 2)
    assert held_by(own) == 0


def held_by(organization_id: str) -> int:
    """How many of an organisation's two places are taken."""
    with ExitStack() as held:
        free = [held.enter_context(shares().place(organization_id, 300)) for _ in range(2)]
    return free.count(False)


def test_other_organisations_go_on_while_one_has_its_share_and_no_more_than_four_fifths(
    runs: DeckRuns,
) -> None:
    run = runs.start()
    with ExitStack() as held:
        for other in ("org_1", "org_2"):
            for _ in range(2):
                assert held.enter_context(shares().place(other, 300))
            assert not held.enter_context(shares().place(other, 300))
        assert counted(runs.finish(run))["scored"] == 2
        assert held.enter_context(shares().place("org_3", 300))
        assert held.enter_context(shares().place("org_3", 300))
        state = runs.step(runs.state(runs.start(repeat=True)))
        assert not state["done"]
        assert state["wait_seconds"] >= 30
