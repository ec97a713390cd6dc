"""Rows that kill each step which reads them: they fail, and nothing else does."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from botocore.exceptions import ClientError

from autotune_platform.decks.runs import asking, collecting
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.runtime.errors import UnavailableError
from tests.providers.answers import Ask
from tests.support.deck_runs import DeckRuns, counted, exposure, texts_left, verdict
from tests.support.killing import Killed, Killer
from tests.support.ledger import Ledger

POISON = "poison"
TEXTS = ("alpha", "beta", f"gamma {POISON}", "delta", "epsilon")
_SECONDS = 0.2

Where = Literal["answers", "samples"]


class TimedOutError(BaseException):
    """The function's time was over, wherever it was: nothing catches it."""


KILLS = (SystemExit, TimedOutError, MemoryError, Killed)


@pytest.fixture
def runs(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> DeckRuns:
    monkeypatch.setattr("autotune_platform.decks.runs.work.PAIRS_TOGETHER", 3)
    made = DeckRuns(ledger)
    made.judging(judge)
    return made


def judge(ask: Ask) -> str:
    """Repeats what it is asked about, so that an answer has what its sample has."""
    return verdict(2, why=POISON if POISON in ask.prompt else "it says so")


def exits() -> None:
    raise SystemExit(1)


def never_ends() -> None:
    """Takes longer than the function has: a signal of the process ends it in its midst."""
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    while True:
        pass


def needs_too_much_memory() -> None:
    raise MemoryError


@contextmanager
def time_that_is_over() -> Iterator[None]:
    """Have the alarm of :func:`never_ends` end what is run, as a function's time-out does."""

    def end(*_: Any) -> None:
        raise TimedOutError

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _time_is_over() -> Iterator[None]:
    with time_that_is_over():
        yield


@contextmanager
def poisoned(
    monkeypatch: pytest.MonkeyPatch, where: Where, does: Callable[[], None]
) -> Iterator[None]:
    """Have what reads a poisoned text do something before."""
    module: Any = collecting if where == "answers" else asking
    name = "read_levels" if where == "answers" else "sample_texts"
    read = getattr(module, name)

    def reading(*args: Any) -> Any:
        if POISON in (_raw_of(*args) if where == "answers" else str(args[1])):
            does()
        return read(*args)

    with monkeypatch.context() as patched:
        patched.setattr(module, name, reading)
        yield


def _raw_of(_row: Any, output: Any) -> str:
    return "" if output is None else output.raw_output


def finish(runs: DeckRuns, run: dict[str, Any], *, steps: int = 60) -> int:
    """Do the steps of a run until it ends, whatever kills them; return how many were killed."""
    killed, state = 0, runs.state(run)
    for _ in range(steps):
        try:
            state = runs.step(state)
        except KILLS:
            killed += 1
            continue
        finally:
            shown = runs.read(run["id"])
            assert counted(shown)
            assert shown["costNanoUsd"] + shown["reservedNanoUsd"] <= shown["capNanoUsd"]
            assert exposure(runs, shown) <= shown["capNanoUsd"]
        if state["done"]:
            return killed
        runs.ask_models(seconds=max(61, state["wait_seconds"]))
    raise AssertionError("the run does not end")


def told(runs: DeckRuns, run: dict[str, Any], grader_id: str) -> dict[str, str]:
    """How each sample ended, when no run's sums are wrong."""
    ended = runs.read(run["id"])
    results = [one for one in runs.results(grader_id) if one["runId"] == run["id"]]
    rows = [one for one in runs.rows() if one["labels"]["run"] == run["id"]]
    counts = counted(ended)
    assert (ended["reservedNanoUsd"], counts["pending"]) == (0, 0)
    assert sum(one["costNanoUsd"] or 0 for one in rows) == ended["costNanoUsd"]
    assert sum(one["costNanoUsd"] for one in results) == ended["costNanoUsd"]
    assert texts_left() == []
    return {one["sampleId"]: one["reason"] or one["status"] for one in results}


@pytest.mark.parametrize("does", [exits, never_ends, needs_too_much_memory])
@pytest.mark.parametrize("where", ["answers", "samples"])
def test_a_row_that_kills_its_steps_fails_and_all_others_have_their_results(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch, where: Where, does: Callable[[], None]
) -> None:
    grader_id = runs.add_grader()
    ids = runs.add_samples(*TEXTS)
    run = runs.start()
    with poisoned(monkeypatch, where, does):
        assert finish(runs, run) == LOST_STEPS + MOST_KILLS
    ended = runs.read(run["id"])
    assert ended["status"] == "completed"
    assert (counted(ended)["scored"], counted(ended)["failed"]) == (4, 1)
    said = told(runs, run, grader_id)
    assert said == {id_: "step_killed" if id_ == ids[2] else "scored" for id_ in ids}
    # It is not asked about again and again, and where it was never read, it is not paid.
    assert len(runs.asked) == (5 if where == "answers" else 4)
    # The next run reads it once more: what killed the steps is mended.
    again = runs.finish(runs.start())
    assert (counted(again)["known"], counted(again)["scored"]) == (4, 5)


@pytest.mark.parametrize(
    "error",
    [
        UnavailableError("busy", retry_after_seconds=1),
        ClientError({"Error": {"Code": "ThrottlingException"}}, "GetItem"),
    ],
)
@pytest.mark.parametrize("where", ["answers", "samples"])
def test_an_outage_at_the_same_place_fails_nothing(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch, where: Where, error: Exception
) -> None:
    grader_id = runs.add_grader()
    ids = runs.add_samples(*TEXTS)
    run = runs.start()
    state, outage = runs.state(run), [0]

    def refuse() -> None:
        outage[0] += 1
        raise error

    with poisoned(monkeypatch, where, refuse):
        for _ in range(12):
            try:
                state = runs.step(state)
            except type(error):
                continue
            runs.ask_models()
    assert outage[0] > LOST_STEPS + MOST_KILLS
    assert counted(runs.read(run["id"]))["failed"] == 0
    assert runs.finish(run)["status"] == "completed"
    assert told(runs, run, grader_id) == dict.fromkeys(ids, "scored")


def test_steps_that_are_killed_at_no_row_in_particular_fail_nothing(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = runs.add_grader()
    ids = runs.add_samples(*TEXTS)
    run = runs.start()
    with monkeypatch.context() as patched:
        patched.setattr(collecting, "read_levels", lambda *_: exits())
        for _ in range(LOST_STEPS):
            finish_one(runs, run)
        finish_one(runs, run)
    finish(runs, run)
    assert told(runs, run, grader_id) == dict.fromkeys(ids, "scored")


def finish_one(runs: DeckRuns, run: dict[str, Any]) -> None:
    """Do steps of a run until one is killed."""
    for _ in range(10):
        try:
            runs.step(runs.state(run))
        except KILLS:
            return
        runs.ask_models()
    raise AssertionError("no step was killed")


def careful_run(runs: DeckRuns, monkeypatch: pytest.MonkeyPatch, ids: list[str]) -> dict[str, Any]:
    """A run whose next step goes row by row, with what was answered to read and more to plan."""
    run = runs.start(repeat=True, sampleIds=ids)
    with monkeypatch.context() as patched:
        patched.setattr("autotune_platform.decks.runs.work.MOST_UNDER_WAY", 3)
        runs.step(runs.state(run))
    runs.ask_models()
    with monkeypatch.context() as patched:
        patched.setattr(collecting, "read_levels", lambda *_: exits())
        for _ in range(LOST_STEPS):
            finish_one(runs, run)
    return run


def test_a_careful_step_that_is_killed_at_any_call_changes_nothing_twice(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = runs.add_grader()
    ids = runs.add_samples("alpha", "beta", "gamma", "delta")
    runs.finish(runs.start())
    killer = Killer()
    killer.spare()
    whole = careful_run(runs, monkeypatch, ids)
    killer.called.clear()
    runs.step(runs.state(whole))
    calls = list(killer.called)
    finish(runs, whole)
    assert calls.count("TransactWriteItems") > 10
    writes = [place for place, name in enumerate(calls) if name.endswith(("Items", "Item"))]
    for place in writes[:: max(1, len(writes) // 12)]:
        run = careful_run(runs, monkeypatch, ids)
        killer.kill("after-call", after=place)
        with pytest.raises(Killed):
            runs.step(runs.state(run))
        killer.spare()
        finish(runs, run)
        ended = runs.read(run["id"])
        assert (ended["status"], counted(ended)["scored"]) == ("completed", 4), calls[place]
        assert ended["repeatability"]["compared"] == 4, calls[place]
        repeated = runs.results(grader_id, repeated="true")
        mine = [one for one in repeated if one["runId"] == run["id"]]
        assert sum(one["costNanoUsd"] for one in mine) == ended["costNanoUsd"], calls[place]
        rows = [one for one in runs.rows() if one["labels"]["run"] == run["id"]]
        assert len(rows) == 4
        assert texts_left() == []


def test_an_ordinary_step_makes_no_more_writes(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples(*TEXTS)
    run = runs.start()
    killer = Killer()
    killer.spare()
    state = runs.step(runs.state(run))
    begins = killer.called.count("TransactWriteItems")
    runs.ask_models()
    killer.called.clear()
    assert runs.step(state)["done"]
    # As many as before there was a guard: it changes what is written anyway.
    assert (begins, killer.called.count("TransactWriteItems")) == (9, 12)


@pytest.mark.parametrize("killers", [1, 2])
def test_a_run_that_kills_ever_more_steps_begins_nothing_more(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch, killers: int
) -> None:
    grader_id = runs.add_grader()
    runs.add_samples(*(f"{name} {POISON}" for name in TEXTS))
    monkeypatch.setattr("autotune_platform.decks.runs.work.MOST_UNDER_WAY", 3)
    monkeypatch.setattr("autotune_platform.decks.runs.work.MOST_KILLERS", killers)
    run = runs.start()
    with poisoned(monkeypatch, "answers", exits):
        finish(runs, run)
    ended = runs.read(run["id"])
    assert (ended["status"], ended["reservedNanoUsd"]) == ("failed", 0)
    assert counted(ended)["failed"] == 5
    assert {one["reason"] for one in runs.results(grader_id)} == {"step_killed"}
    assert len(runs.asked) == 3
    assert runs.sweep() == 0
