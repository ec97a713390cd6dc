"""Answers to proposals that kill each step which reads them: they count as none."""

from typing import Any

import pytest

from autotune_platform.decks.proposing import asking, reading
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.runtime.errors import UnavailableError
from tests.support.deck_proposals import Proposals
from tests.support.deck_runs import items_of, texts_left
from tests.support.ledger import Ledger


@pytest.fixture
def proposals(ledger: Ledger) -> Proposals:
    return Proposals(ledger)


def finish(proposals: Proposals, run: dict[str, Any], error: type[BaseException]) -> int:
    """Do the steps of a run until it ends, whatever kills them; return how many were killed."""
    killed, state = 0, proposals.state(run)
    for _ in range(60):
        try:
            state = proposals.step(state)
        except error:
            killed += 1
            continue
        if state["done"]:
            return killed
        proposals.ask_models(seconds=max(61, state["wait_seconds"]))
    raise AssertionError("the run does not end")


def test_answers_that_kill_their_steps_count_as_none(
    proposals: Proposals, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = [0]

    def die(*_: Any) -> None:
        reads[0] += 1
        raise SystemExit(1)

    monkeypatch.setattr(reading, "read_graders", die)
    run = proposals.propose()
    assert finish(proposals, run, SystemExit) == 3 * (LOST_STEPS + MOST_KILLS) == reads[0]
    ended = proposals.read(run["id"])
    assert (ended["status"], ended["reservedNanoUsd"]) == ("failed", 0)
    assert [one["faults"] for one in ended["proposal"]["refused"]] == [["no_answer"]]
    rows = proposals.rows()
    assert len(rows) == 3
    assert sum(one["costNanoUsd"] for one in rows) == ended["costNanoUsd"] > 0
    assert items_of("decks", [run["id"]]) == []
    assert texts_left() == []


def test_a_prompt_that_kills_its_steps_is_not_asked_about(
    proposals: Proposals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise SystemExit(1)

    run = proposals.propose()
    monkeypatch.setattr(asking, "graders_input", die)
    assert finish(proposals, run, SystemExit) == LOST_STEPS + MOST_KILLS
    ended = proposals.read(run["id"])
    assert (ended["status"], ended["costNanoUsd"], proposals.asked) == ("failed", 0, [])
    assert [one["faults"] for one in ended["proposal"]["refused"]] == [["not_askable"]]


def test_an_outage_at_the_same_place_loses_no_answer(
    proposals: Proposals, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, refused = reading.read_graders, [0]

    def refuse_at_first(*args: Any) -> Any:
        refused[0] += 1
        if refused[0] <= 10:
            raise UnavailableError("busy", retry_after_seconds=1)
        return read(*args)

    monkeypatch.setattr(reading, "read_graders", refuse_at_first)
    run = proposals.propose()
    assert finish(proposals, run, UnavailableError) == 10
    ended = proposals.read(run["id"])
    assert (ended["status"], ended["proposal"]["refused"]) == ("completed", [])
    assert len(proposals.graders()) >= 3
