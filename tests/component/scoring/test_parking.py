"""Runs that wait for a grader that is down are parked, and woken in waves once it is back."""

import heapq
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.runs.durable_wait import TaskTokens
from functions.graders import probe_graders
from functions.scoring import grade_chunk
from tests.support.clock import StandingClock
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.health import falls_ill
from tests.support.killing import Killed, Killer
from tests.support.platform import Platform

LONG_DOWN = timedelta(hours=6)


class Tokens:
    """The tokens of executions that wait, in place of Step Functions."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        self.ended: list[str] = []

    def succeed(self, token: str) -> bool:
        if token not in self.waiting:
            return False
        self.waiting.remove(token)
        self.ended.append(token)
        return True


@pytest.fixture
def tokens(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tokens]:
    made = Tokens()
    monkeypatch.setattr(TaskTokens, "succeed", lambda _, token: made.succeed(token))
    return made


def down(exchange: Exchange) -> None:
    exchange.status = 503


def healthy(_: Exchange) -> None:
    pass


def started(platform: Platform, task_id: str, runs: int) -> list[dict[str, Any]]:
    for _ in range(runs):
        platform.submit(task_id, {})
        platform.dispatch(platform.queued())
    return platform.runs()


def park(platform: Platform, tokens: Tokens, progress: dict[str, Any], token: str) -> None:
    """Park a run as the state machine does."""
    tokens.waiting.add(token)
    platform.await_answers(progress, token)


def listed() -> list[dict[str, Any]]:
    items = boto3.client("dynamodb").scan(TableName="completions")["Items"]
    return [item for item in items if item["pk"]["S"].startswith("parked#")]


@pytest.fixture
def probe(
    platform: Platform, clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Probe all graders' health, at the time of the clock."""

    def probe_health() -> None:
        monkeypatch.setattr(probe_graders.parts().probing.waiting, "clock", clock)
        assert platform.probe_graders()["probed"] == 1

    return probe_health


def until_parked(
    platform: Platform, progress: dict[str, Any], clock: StandingClock
) -> dict[str, Any]:
    while not progress.get("is_parked"):
        progress = platform.grade(progress)
        if not progress["is_parked"]:
            clock.turn(seconds=progress["sleep_seconds"])
    return progress


class Executions:
    """Runs as Step Functions would have them, on a clock that is turned from event to event."""

    def __init__(
        self, platform: Platform, clock: StandingClock, tokens: Tokens, runs: list[dict[str, Any]]
    ) -> None:
        self.platform, self.clock, self.tokens = platform, clock, tokens
        self.rounds = 0
        self.open = len(runs)
        self._numbers = 0
        self._due: list[tuple[float, int, dict[str, Any], str | None]] = []
        for run in runs:
            self._push(0, run, None)

    def _push(self, at: float, progress: dict[str, Any], token: str | None) -> None:
        self._numbers += 1
        heapq.heappush(self._due, (at, self._numbers, progress, token))

    def go_on(self, *, until: timedelta) -> None:
        while self._due and self.open:
            self._let_go()
            at, number, progress, token = heapq.heappop(self._due)
            if at > until.total_seconds():
                heapq.heappush(self._due, (at, number, progress, token))
                return
            ahead = self.clock.ahead.total_seconds()
            self.clock.turn(seconds=max(0.0, at - ahead))
            if token is not None:
                self.tokens.waiting.discard(token)
            progress = self.platform.grade(progress)
            self.rounds += 1
            if not progress["remaining"]:
                self.open -= 1
                continue
            wake_at = self.clock.ahead.total_seconds() + progress["sleep_seconds"]
            parked_as = f"token-{self._numbers}" if progress["is_parked"] else None
            if parked_as is not None:
                park(self.platform, self.tokens, progress, parked_as)
            self._push(wake_at, progress, parked_as)

    def _let_go(self) -> None:
        """Have those go on at once whose token was sent."""
        ended = set(self.tokens.ended)
        self.tokens.ended.clear()
        if not ended:
            return
        now = self.clock.ahead.total_seconds()
        self._due = [
            (now, number, progress, None) if token in ended else (at, number, progress, token)
            for at, number, progress, token in self._due
        ]
        heapq.heapify(self._due)


def test_what_is_parked_after_an_outage_of_a_day_is_scored_within_minutes(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, tokens: Tokens
) -> None:
    grader_id = platform.new_grader(grader, limits={"maxConcurrency": 4})
    runs = started(platform, platform.new_task(grader_id), 10)
    grader.disease = down
    executions = Executions(platform, clock, tokens, runs)
    executions.go_on(until=timedelta(days=1))
    # While it is down nobody wakes anybody.
    assert executions.open == len(runs)
    assert tokens.waiting
    assert executions.rounds < len(runs) * 75

    grader.disease = healthy
    answered: list[float] = []

    def note(_: Exchange) -> None:
        answered.append(clock.ahead.total_seconds())

    grader.disease = note
    executions.go_on(until=timedelta(days=2))
    assert executions.open == 0
    assert answered[-1] - answered[0] < 600
    assert listed() == []


def test_a_run_that_is_parked_shows_that_it_sleeps(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, tokens: Tokens
) -> None:
    grader.disease = down
    (run,) = started(platform, platform.new_task(platform.new_grader(grader)), 1)
    progress = until_parked(platform, run, clock)
    (before,) = platform.call("GET", "/api/v1/runs").json["runs"]
    park(platform, tokens, progress, "one")
    (after,) = platform.call("GET", "/api/v1/runs").json["runs"]
    assert (after["state"], after["step"]) == (before["state"], before["step"])
    assert after["state"] == "sleeping"
    assert len(listed()) == 1
    assert tokens.waiting == {"one"}


@pytest.fixture
def parked(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, tokens: Tokens
) -> list[dict[str, Any]]:
    """Two runs of one grader that is down: the first is parked, the second is to look."""
    grader.disease = down
    runs = started(platform, platform.new_task(platform.new_grader(grader)), 2)
    first = until_parked(platform, runs[0], clock)
    second = until_parked(platform, runs[1], clock)
    park(platform, tokens, first, "first")
    grader.disease = healthy
    clock.turn(seconds=LONG_DOWN.total_seconds())
    return [first, second]


def test_a_probe_that_succeeds_wakes_what_is_parked(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens
) -> None:
    left = platform.grade(parked[1])
    assert left["remaining"] == 0
    assert tokens.ended == ["first"]
    assert listed() == []
    assert platform.grade(parked[0])["remaining"] == 0


def test_a_probe_that_succeeds_between_round_and_wait_loses_no_wake_up(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens
) -> None:
    platform.grade(parked[1])
    tokens.ended.clear()
    park(platform, tokens, parked[0], "later")
    assert tokens.ended == ["later"]


def test_a_probe_that_fails_wakes_nobody(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens, grader: LoopbackGrader
) -> None:
    grader.disease = down
    left = platform.grade(parked[1])
    assert left["is_parked"]
    assert tokens.waiting == {"first"}
    assert len(listed()) == 1


def test_a_grader_whose_health_is_well_again_has_a_parked_run_look_at_it(
    parked: list[dict[str, Any]], tokens: Tokens, probe: Callable[[], None]
) -> None:
    probe()
    assert tokens.ended == ["first"]
    assert listed() == []


def test_a_grader_whose_health_is_bad_wakes_nobody(
    parked: list[dict[str, Any]],
    tokens: Tokens,
    grader: LoopbackGrader,
    probe: Callable[[], None],
) -> None:
    falls_ill(grader)
    probe()
    assert tokens.waiting == {"first"}
    assert len(listed()) == 1


@pytest.fixture
def just_down(platform: Platform, parked: list[dict[str, Any]], grader: LoopbackGrader) -> str:
    """A grader that a question found down again, and that is well by now; its id."""
    grader.disease = down
    assert platform.grade(parked[1])["is_parked"]
    grader.disease = healthy
    grader_id: str = parked[0]["grader_id"]
    return grader_id


def test_good_health_wakes_nobody_before_the_circuit_admits_a_probe(
    just_down: str, tokens: Tokens, clock: StandingClock, probe: Callable[[], None]
) -> None:
    probe()
    assert tokens.waiting == {"first"}
    clock.turn(minutes=10)
    probe()
    assert tokens.ended == ["first"]


def test_what_is_parked_alone_is_woken_soon_after_its_grader_is_verified(
    platform: Platform, just_down: str, tokens: Tokens, probe: Callable[[], None]
) -> None:
    assert platform.call("POST", f"/api/v1/graders/{just_down}/verify").json["verified"]
    probe()
    assert tokens.ended == ["first"]


def test_a_run_that_is_woken_twice_goes_on_once(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens
) -> None:
    parking = grade_chunk.parts().parking
    grader_id = parked[0]["grader_id"]
    assert parking.wake(grader_id, at_most=8) == 1
    assert parking.wake(grader_id, at_most=8) == 0
    assert tokens.ended == ["first"]


def test_of_two_who_take_a_run_one_gets_its_token(
    platform: Platform, parked: list[dict[str, Any]]
) -> None:
    repository = grade_chunk.parts().parking.parked
    grader_id = parked[0]["grader_id"]
    (place,) = repository.places(grader_id, at_most=8)
    assert [repository.take(grader_id, place) for _ in range(2)] == ["first", None]


def test_what_wakes_by_its_own_look_leaves_the_list(
    platform: Platform, parked: list[dict[str, Any]]
) -> None:
    assert platform.grade(parked[0])["remaining"] == 0
    assert listed() == []


def test_a_run_whose_token_is_stored_but_not_listed_is_listed_by_the_next_try(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens, grader: LoopbackGrader
) -> None:
    tokens.waiting.add("second")
    killer = Killer()
    killer.kill("before-call", after=1)
    with pytest.raises(Killed):
        platform.await_answers(parked[1], "second")
    killer.spare()
    assert len(listed()) == 1
    assert tokens.waiting == {"first", "second"}
    park(platform, tokens, parked[1], "again")
    assert len(listed()) == 2


@pytest.mark.parametrize("calls", range(4))
def test_a_waker_that_dies_costs_nobody_a_score(
    platform: Platform, parked: list[dict[str, Any]], calls: int
) -> None:
    killer = Killer()
    parking = grade_chunk.parts().parking
    killer.kill("before-call", after=calls)
    with suppress(Killed):
        parking.wake(parked[0]["grader_id"], at_most=8)
    killer.spare()
    # Its own look comes all the same.
    assert platform.grade(parked[0])["remaining"] == 0
    assert listed() == []


def test_a_run_that_has_ended_is_not_listed(
    platform: Platform, parked: list[dict[str, Any]], tokens: Tokens
) -> None:
    run_id = parked[1]["run_id"]
    assert platform.call("POST", f"/api/v1/runs/{run_id}/cancel").status == 200
    park(platform, tokens, parked[1], "canceled")
    assert len(listed()) == 1
    assert tokens.ended == ["canceled"]


def test_who_asked_for_a_time_is_not_asked_before(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    def busy(exchange: Exchange) -> None:
        exchange.status = 503
        exchange.headers["retry-after"] = "890"

    grader.disease = busy
    (progress,) = started(platform, platform.new_task(platform.new_grader(grader)), 1)
    for _ in range(20):
        progress = platform.grade(progress)
        assert not (progress["is_parked"] and progress["sleep_seconds"] >= 890)
        clock.turn(seconds=progress["sleep_seconds"])


def test_a_run_of_before_is_not_parked(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    (progress,) = started(platform, platform.new_task(platform.new_grader(grader)), 1)
    for name in ("is_parked", "was_parked", "wakes_others"):
        progress.pop(name, None)
    assert platform.grade(progress)["is_parked"] is False


def test_a_run_that_never_was_parked_looks_at_no_list(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    (progress,) = started(platform, platform.new_task(platform.new_grader(grader)), 1)
    killer = Killer()
    platform.grade(progress)
    assert "Query" not in killer.called
    assert "DeleteItem" not in killer.called


def test_what_an_open_circuit_would_keep_beyond_its_deadline_is_looked_at_before_it(
    platform: Platform,
    parked: list[dict[str, Any]],
    grader: LoopbackGrader,
    clock: StandingClock,
) -> None:
    grader_id = parked[0]["grader_id"]
    grader.disease = down
    platform.grade(parked[1])
    platform.submit(platform.new_task(grader_id, deadlineSeconds=300), {})
    platform.dispatch(platform.queued())
    run = next(one for one in platform.runs() if one not in parked and not one["attempt"])
    # The clock is ahead of the machine's, which submissions are stamped with.
    clock.turn(seconds=-LONG_DOWN.total_seconds())
    left = platform.grade(run)
    assert left["remaining"] == 1
    assert 0 < left["sleep_seconds"] <= 300
    grader.disease = healthy
    assert platform.call("POST", f"/api/v1/graders/{grader_id}/verify").status == 200
    clock.turn(seconds=left["sleep_seconds"])
    assert platform.grade(left)["remaining"] == 0
    (score,) = platform.call("GET", "/api/v1/scores").json["scores"]
    assert score["state"] == "scored"
