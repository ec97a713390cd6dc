"""Responses that kill each step which makes samples of them: they fail, and nothing else does."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autotune_platform.decks.prompting import collecting
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.runtime.errors import UnavailableError
from tests.component.decks.test_killed_steps import (
    exits,
    finish,
    needs_too_much_memory,
    never_ends,
    time_that_is_over,
)
from tests.support.deck_runs import counted, texts_left
from tests.support.ledger import Ledger
from tests.support.prompt_edits import PromptEdits


@pytest.fixture
def deck(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> PromptEdits:
    monkeypatch.setattr("autotune_platform.decks.runs.work.PAIRS_TOGETHER", 3)
    return PromptEdits(ledger)


@pytest.fixture(autouse=True)
def _time_is_over() -> Iterator[None]:
    with time_that_is_over():
        yield


def begun(deck: PromptEdits) -> dict[str, Any]:
    answer = deck.act(deck.propose()["id"], "generate")
    return deck.read(answer.json["edit"]["runId"])


def poison(monkeypatch: pytest.MonkeyPatch, where: str, does: Callable[[], None]) -> None:
    """Have what makes a sample of one of the responses do something before."""
    read = getattr(collecting, where)

    def reading(*args: Any) -> Any:
        # One source kills where it is read again, and both of its responses; or one response does.
        if ("question 2?" if where == "sample_texts" else "short 2 of 2") in str(args):
            does()
        return read(*args)

    monkeypatch.setattr(collecting, where, reading)


@pytest.mark.parametrize("does", [exits, never_ends, needs_too_much_memory])
@pytest.mark.parametrize(("where", "lost"), [("conversation_of", 1), ("sample_texts", 2)])
def test_a_response_that_kills_its_steps_fails_and_all_others_become_samples(
    deck: PromptEdits,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    lost: int,
    does: Callable[[], None],
) -> None:
    run = begun(deck)
    with monkeypatch.context() as patched:
        poison(patched, where, does)
        assert finish(deck, run) == LOST_STEPS + MOST_KILLS * lost
    ended = deck.read(run["id"])
    assert ended["status"] == "completed"
    assert (counted(ended)["scored"], counted(ended)["failed"]) == (8 - lost, lost)
    assert len(deck.generated()) == 8 - lost
    rows = [one for one in deck.rows() if one["labels"]["run"] == run["id"]]
    assert sum(one["costNanoUsd"] or 0 for one in rows) == ended["costNanoUsd"]
    assert (len(deck.asked), ended["reservedNanoUsd"], texts_left()) == (8, 0, [])
    # What killed the steps is mended: the next run has the rest alone answered.
    again = deck.generate(ended["promptEditId"])
    assert (again["counts"]["known"], counted(again)["scored"]) == (8 - lost, 8)
    assert len(deck.generated()) == 8


def test_an_outage_at_the_same_place_loses_no_response(
    deck: PromptEdits, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(deck)
    state, outage = deck.state(run), [0]

    def refuse() -> None:
        outage[0] += 1
        raise UnavailableError("busy", retry_after_seconds=1)

    with monkeypatch.context() as patched:
        poison(patched, "conversation_of", refuse)
        for _ in range(12):
            try:
                state = deck.step(state)
            except UnavailableError:
                continue
            deck.ask_models()
    assert outage[0] > LOST_STEPS + MOST_KILLS
    assert counted(deck.read(run["id"]))["failed"] == 0
    assert counted(deck.finish(run))["scored"] == len(deck.generated()) == 8
