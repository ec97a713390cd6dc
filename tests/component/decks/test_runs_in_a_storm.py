"""Seeded storms: workers are killed, doubled and redriven, and the provider loses answers."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from autotune_platform.storage.table import Table
from tests.providers.answers import Ask
from tests.support.deck_runs import DeckRuns, counted, exposure, items_of, texts_left, verdict
from tests.support.ledger import Ledger

_WRITES = (
    "transact",
    "put_many",
    "put_new",
    "update",
    "add_together",
    "write_together",
    "delete",
    "delete_many",
)


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


class Storm:
    """Kills whoever writes, or lets another worker do a whole step before the write."""

    def __init__(self, seed: int, other: Callable[[], None]) -> None:
        self._random = random.Random(seed)
        self._other = other
        self._depth = 0
        self._main = threading.get_ident()
        self.kills = self.doubles = 0

    def around(self, call: Any) -> Any:
        def wrapped(one: Any, *args: Any, **options: Any) -> Any:
            drawn = self._random.random()
            if drawn < 0.03:
                self._kill()
            if drawn > 0.97 and not self._depth and threading.get_ident() == self._main:
                self._depth += 1
                try:
                    self.doubles += 1
                    self._other()
                finally:
                    self._depth -= 1
            done = call(one, *args, **options)
            if 0.03 <= drawn < 0.06:
                self._kill()
            return done

        return wrapped

    def _kill(self) -> None:
        self.kills += 1
        raise KilledError

    @contextmanager
    def blowing(self) -> Iterator[None]:
        patches = [patch.object(Table, name, self.around(getattr(Table, name))) for name in _WRITES]
        for one in patches:
            one.start()
        try:
            yield
        finally:
            for one in patches:
                one.stop()


def judge(ask: Ask) -> str:
    """Says what the response says, where it can be read."""
    for level in range(-3, 4):
        if f"level {level}." in ask.prompt:
            return verdict(level)
    if "unsure." in ask.prompt:
        return verdict("ABSTAIN")
    return verdict("seven" if "You were asked this before" not in ask.prompt else 3)


@pytest.mark.parametrize("seed", range(4))
def test_a_storm_neither_loses_nor_doubles_a_judgement(
    ledger: Ledger, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.decks.runs.work.PAIRS_TOGETHER", 4)
    runs = DeckRuns(ledger)
    runs.judging(judge)
    graders = [runs.add_grader(), runs.add_grader(name="second")]
    texts = [f"n{n} level {n - 3}." for n in range(7)]
    ids = runs.add_samples(*texts, "a unsure.", "b strange.", "c strange.")
    ledger.fake.world.traps.arm("chat_answer_lost", times=1)
    cap = None if seed % 2 else runs.estimate()["boundNanoUsd"] // 3
    run = runs.start(**({} if cap is None else {"capNanoUsd": cap}))

    def step() -> dict[str, Any]:
        return runs.step(runs.state(run))

    storm = Storm(seed, step)
    done = False
    for turn in range(200):
        try:
            with storm.blowing():
                done = step()["done"]
        except KilledError:
            pass
        shown = runs.read(run["id"])
        assert counted(shown)
        assert shown["costNanoUsd"] + shown["reservedNanoUsd"] <= shown["capNanoUsd"]
        assert exposure(runs, shown) <= shown["capNanoUsd"]
        if done and shown["status"] != "running":
            break
        if turn % 7 == 6:
            ledger.passed += 700
            runs.sweep()
        runs.ask_models()
    ended = runs.read(run["id"])
    assert ended["status"] == ("completed" if cap is None else ended["status"])
    assert ended["status"] in ("completed", "stopped")
    counts = counted(ended)
    assert (counts["pending"], ended["reservedNanoUsd"]) == (0, 0)
    results = [one for id_ in graders for one in runs.results(id_)]
    assert len(results) == counts["scored"] + counts["abstained"] + counts["failed"]
    if cap is None:
        assert (counts["scored"], counts["abstained"]) == (18, 2)
        by_sample = {one["sampleId"]: one.get("score") for one in results}
        assert [by_sample[id_] for id_ in ids[:7]] == list(range(-3, 4))
    rows = [one for one in runs.rows() if one["labels"]["run"] == run["id"]]
    assert sum(one["costNanoUsd"] or 0 for one in rows) == ended["costNanoUsd"]
    assert sum(one["costNanoUsd"] for one in results) == ended["costNanoUsd"]
    # Each was asked as often as its row says; what was lost was paid for as one more.
    assert len(runs.asked) == len(rows)
    assert texts_left() == []
    assert items_of("decks", [run["id"]]) == []
    (open_rows,) = items_of("ledger", ["open#"])
    assert (open_rows["rows"]["N"], open_rows["bytes"]["N"]) == ("0", "0")
    assert storm.kills + storm.doubles > 0
