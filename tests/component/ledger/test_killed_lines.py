"""Lines of a job's results that kill each step which reads them: their rows fail, and no other."""

from collections.abc import Callable
from typing import Any

import pytest

from autotune_platform.ledger.batching import bringing
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.guarding import LOST_STEPS, MOST_KILLS, named_in
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from autotune_platform.runtime.errors import UnavailableError
from tests.component.ledger.test_jobs import assert_paid_once, enqueue, read_all
from tests.support.ledger import Ledger

POISON = "question 3"
NAMES = ("a" * 26 + "x1", "b" * 26 + "x2")


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


KILLS: tuple[type[BaseException], ...] = (KilledError, MemoryError, RecursionError)


class Poison:
    """Has what reads lines with a text do something before, and counts how often."""

    def __init__(self, where: str, does: BaseException, *, text: str = POISON) -> None:
        self.where, self.does, self.text = where, does, text
        self.times, self.most = 0, 10_000

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        owner: Any = OpenAiJobs if self.where == "line" else RowEnds
        read: Callable[..., Any] = getattr(owner, self.where)

        def reading(*given: Any, **named: Any) -> Any:
            if self.text in str(given) and self.times < self.most:
                self.times += 1
                raise self.does
            return read(*given, **named)

        monkeypatch.setattr(owner, self.where, reading)


@pytest.fixture
def ids(ledger: Ledger) -> list[str]:
    ledger.fake.world.answers.answerer = lambda ask: f"re: {ask.prompt}"
    return enqueue(ledger, "openai")


@pytest.mark.parametrize("does", KILLS)
@pytest.mark.parametrize("where", ["line", "answered"])
def test_a_line_that_kills_its_steps_fails_its_row_and_all_others_come_home(
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    ids: list[str],
    where: str,
    does: type[BaseException],
) -> None:
    poison = Poison(where, does())
    poison.install(monkeypatch)
    ledger.run_jobs(killed_by=does)
    assert poison.times == LOST_STEPS + MOST_KILLS
    found = {one["input"]["user"]: one for one in read_all(ledger, ids)}
    lost = found.pop(POISON)
    assert (lost["status"], lost["error"]["code"]) == ("error", "result_malformed")
    assert lost["error"]["message"].startswith("step_killed: ")
    assert {one["status"] for one in found.values()} == {"completed"}
    # It was asked once, and is charged with what it may have cost.
    world = ledger.fake.world
    assert (len(world.batches), len(world.executions)) == (1, len(ids))
    assert lost["attempt"] == 1
    spent, reserved = ledger.spent_and_reserved("day")
    assert reserved == 0
    assert spent == sum(one["costNanoUsd"] for one in [lost, *found.values()])
    assert spent >= world.bill()["total_nano_usd"]


@pytest.mark.parametrize("where", ["line", "answered"])
def test_an_outage_at_the_same_place_fails_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ids: list[str], where: str
) -> None:
    poison = Poison(where, UnavailableError("busy", retry_after_seconds=1))
    poison.most = 3 * (LOST_STEPS + MOST_KILLS)
    poison.install(monkeypatch)
    ledger.run_jobs(killed_by=UnavailableError)
    assert poison.times == poison.most
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


def test_an_outage_of_careful_steps_fails_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ids: list[str]
) -> None:
    poison = Poison("answered", KilledError())
    read = poison.__class__("answered", UnavailableError("busy", retry_after_seconds=1))
    poison.most, read.most = LOST_STEPS, 3 * MOST_KILLS
    read.install(monkeypatch)
    poison.install(monkeypatch)
    ledger.run_jobs(killed_by=(KilledError, UnavailableError))  # type: ignore[arg-type]
    assert (poison.times, read.times) == (poison.most, read.most)
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


def test_steps_that_are_killed_at_no_line_fail_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ids: list[str]
) -> None:
    lines, killed = JobFiles.lines, [0]

    def reading(*given: Any) -> Any:
        killed[0] += 1
        if killed[0] <= 3 * LOST_STEPS:
            raise KilledError
        return lines(*given)

    monkeypatch.setattr(JobFiles, "lines", reading)
    ledger.run_jobs(killed_by=KilledError)
    assert killed[0] > 3 * LOST_STEPS
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


def test_a_job_of_which_ever_more_lines_kill_is_given_up(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ids: list[str]
) -> None:
    monkeypatch.setattr(bringing, "MOST_KILLERS", 2)
    poison = Poison("line", KilledError(), text="question")
    poison.install(monkeypatch)
    ledger.run_jobs(killed_by=KilledError)
    assert poison.times == LOST_STEPS + 2 * MOST_KILLS
    errors = [one["error"]["code"] for one in read_all(ledger, ids)]
    assert errors == ["result_malformed"] * len(ids)
    assert ledger.spent_and_reserved("day")[1] == 0
    assert len(ledger.fake.world.executions) == len(ids), "none is asked again"


@pytest.mark.parametrize("member", ["custom_id", "recordId", "key"])
def test_a_row_is_found_in_a_line_that_is_not_read(member: str) -> None:
    name, other = NAMES
    line = f'{{"a": [], "{member}" : "{name}", "text": "x\\"{member}\\": \\"{other}\\""}}'
    assert named_in(line.encode()) == ("llm_" + "a" * 26, 1)


def test_a_line_with_several_rows_is_nobodys() -> None:
    line = "".join(f'{{"custom_id":"{name}"}}' for name in NAMES)
    assert named_in(line.encode()) is None
    assert named_in(b'{"custom_id":"llm"}') is None
