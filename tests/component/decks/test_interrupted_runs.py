"""Whatever a run's worker is killed in: each judgement is paid, stored and counted once."""

import random
from typing import Any

import pytest

from tests.providers.answers import Ask
from tests.support.deck_runs import DeckRuns, counted, exposure, items_of, texts_left, verdict
from tests.support.killing import Killed, Killer
from tests.support.ledger import Ledger

OUTPUTS = ("alpha", "beta", "gamma", "delta")
AGAIN = "You were asked this before"
SEED = 7  # of which calls are tried: all of them take a minute


@pytest.fixture
def runs(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> DeckRuns:
    monkeypatch.setattr("autotune_platform.decks.runs.work.PAIRS_TOGETHER", 3)
    made = DeckRuns(ledger)
    made.judging(judge)
    return made


def judge(ask: Ask) -> str:
    """Cannot be read at first for one sample, and never for another."""
    response = ask.prompt
    if "delta" in response or ("beta" in response and AGAIN not in response):
        return verdict("eleven")
    return verdict("NOT_APPLICABLE" if "gamma" in response else 3)


def told(runs: DeckRuns, run: dict[str, Any], graders: list[str]) -> Any:
    """What must not depend on where a run was interrupted; and what holds of each of them."""
    assert run["status"] == "completed"
    assert run["reservedNanoUsd"] == 0
    rows = [one for one in runs.rows() if one["labels"]["run"] == run["id"]]
    assert all(one["status"] == "completed" for one in rows)
    assert sum(one["costNanoUsd"] for one in rows) == run["costNanoUsd"]
    results = [one for id_ in graders for one in runs.results(id_, repeated="true")]
    mine = [one for one in results if one["runId"] == run["id"]]
    assert sum(one["costNanoUsd"] for one in mine) == run["costNanoUsd"]
    assert texts_left() == []
    assert [one["sk"]["S"] for one in items_of("decks", [run["id"]])] == []
    (open_rows,) = items_of("ledger", ["open#"])
    assert (open_rows["rows"]["N"], open_rows["bytes"]["N"]) == ("0", "0")
    said = sorted((one["sampleId"], one["graderId"], one["status"]) for one in mine)
    return counted(run), run["repeatability"], said, len(rows)


def finish(runs: DeckRuns, run: dict[str, Any], killer: Killer, *, after: int) -> int:
    """Do a run's steps, and kill the worker once; return how many calls it made."""
    state, calls = runs.state(run), 0
    for _ in range(40):
        killer.called.clear()
        if calls <= after:
            killer.kill("after-call", after=after - calls)
        try:
            state = runs.step(state)
        except Killed:
            pass
        finally:
            killer.spare()
        calls += len(killer.called)
        shown = runs.read(run["id"])
        assert counted(shown)
        assert shown["costNanoUsd"] + shown["reservedNanoUsd"] <= shown["capNanoUsd"]
        assert exposure(runs, shown) <= shown["capNanoUsd"]
        if state.get("done"):
            return calls
        runs.ask_models()
    raise AssertionError("the run does not end")


def calls_of(runs: DeckRuns, run: dict[str, Any], killer: Killer) -> list[str]:
    """Do a run's steps; return which calls the worker made."""
    state, calls = runs.state(run), []
    while not state.get("done"):
        killer.called.clear()
        state = runs.step(state)
        calls += killer.called
        runs.ask_models()
    return calls


def unlike(steps: list[str]) -> list[int]:
    """Return the indexes of calls of which no earlier one comes after the same call."""
    pairs = list(zip(["", *steps], steps, strict=False))
    return [place for place, two in enumerate(pairs) if two not in pairs[:place]]


def test_a_kill_at_any_call_pays_and_counts_once(runs: DeckRuns) -> None:
    graders = [runs.add_grader()]
    ids = runs.add_samples(*OUTPUTS)
    assert runs.finish(runs.start())["status"] == "completed"
    killer = Killer()
    killer.spare()
    # Each run judges the same anew.
    whole = runs.start(repeat=True, sampleIds=ids)
    steps = calls_of(runs, whole, killer)
    expected = told(runs, runs.read(whole["id"]), graders)
    assert expected[0]["scored"] == expected[1]["compared"] == 2
    assert {"TransactWriteItems", "BatchWriteItem", "BatchGetItem", "Query"} <= set(steps)
    places = unlike(steps)
    assert len(places) > 15
    for place in random.Random(SEED).sample(places, 14):
        run = runs.start(repeat=True, sampleIds=ids)
        finish(runs, run, killer, after=place)
        assert told(runs, runs.read(run["id"]), graders) == expected, f"{steps[place]}, {place}"
