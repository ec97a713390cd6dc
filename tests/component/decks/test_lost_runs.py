"""Runs whose executions are lost: redriven, given up, and never for nothing that was paid."""

from datetime import timedelta

import pytest

from autotune_platform.decks.runs.sweeping import MAX_LOST
from tests.support.deck_runs import DeckRuns, counted, texts_left, verdict
from tests.support.ledger import Ledger


@pytest.fixture
def runs(ledger: Ledger) -> DeckRuns:
    made = DeckRuns(ledger)
    made.judging(lambda _: verdict(1))
    return made


def test_a_lost_execution_is_redriven_and_what_nothing_helps_ends(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    run = runs.start()
    lost = runs.state(run)
    assert runs.sweep() == 0
    runs.ledger.passed += 200
    assert runs.sweep() == 1
    assert runs.state(run)["redrive"] == 1
    assert runs.step(lost)["done"]
    assert runs.rows() == []
    for _ in range(60):
        runs.ledger.passed += timedelta(hours=2).total_seconds()
        if not runs.sweep():
            break
    failed = runs.read(run["id"])
    assert (failed["status"], counted(failed)["failed"]) == ("failed", 2)
    assert runs.sweep() == 0
    # Its graders are free.
    assert runs.finish(runs.start())["status"] == "completed"
    assert texts_left() == []


def sweep_in_vain(runs: DeckRuns) -> None:
    """Have the sweeper redrive a run whose executions are lost, until it does something else."""
    for _ in range(MAX_LOST + 1):
        runs.ledger.passed += 3700
        assert runs.sweep() == 1


def test_a_run_that_comes_no_further_ends_with_what_it_has_paid(runs: DeckRuns) -> None:
    grader_id = runs.add_grader()
    runs.add_samples("alpha", "beta", "gamma")
    run = runs.start(capNanoUsd=10**9)
    runs.step(runs.state(run))
    runs.ask_models()
    paid = sum(row["costNanoUsd"] for row in runs.rows())
    assert paid > 0
    sweep_in_vain(runs)
    shown = runs.read(run["id"])
    assert (shown["status"], shown["costNanoUsd"]) == ("running", 0), "nobody has looked yet"
    ended = runs.finish(run)
    assert (ended["status"], ended["reservedNanoUsd"]) == ("failed", 0)
    assert ended["costNanoUsd"] == paid
    assert (counted(ended)["scored"], len(runs.results(grader_id))) == (3, 3)
    again = runs.finish(runs.start())
    assert (counted(again)["known"], again["costNanoUsd"]) == (3, 0), "nothing is paid twice"


def test_what_waits_of_a_failed_run_is_canceled_and_never_asked(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    run = runs.start()
    runs.step(runs.state(run))
    sweep_in_vain(runs)
    ended = runs.finish(run)
    assert (ended["status"], ended["costNanoUsd"], ended["reservedNanoUsd"]) == ("failed", 0, 0)
    assert {row["status"] for row in runs.rows()} == {"canceled"}
    assert runs.asked == []


def test_a_run_that_cannot_even_be_given_up_counts_all_that_it_may_cost(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    run = runs.start()
    runs.step(runs.state(run))
    most = runs.read(run["id"])["reservedNanoUsd"]
    runs.ask_models()
    sweep_in_vain(runs)
    sweep_in_vain(runs)
    ended = runs.read(run["id"])
    assert (ended["status"], ended["costNanoUsd"], ended["reservedNanoUsd"]) == ("failed", most, 0)
    assert counted(ended)["failed"] == 2
    assert sum(row["costNanoUsd"] for row in runs.rows()) <= most
