"""A grader that is down is waited for until the deadline; a poisonous text is found and ended."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.graders import api as graders_api
from tests.support.clock import StandingClock
from tests.support.graders import Exchange, LoopbackGrader, loopback_grader
from tests.support.platform import Platform

PRICES = Path(__file__).parents[3] / "benchmarks" / "prices.json"
TRANSITIONS_OF_A_ROUND = 3

POISON = "poison"
SOON = timedelta(seconds=5)


def answering(status: int, **headers: str) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        exchange.status = status
        exchange.headers.update({name.replace("_", "-"): value for name, value in headers.items()})

    return answer


def healthy(_: Exchange) -> None:
    pass


def started(platform: Platform, task_id: str, *completions: dict[str, Any]) -> dict[str, Any]:
    before = {run["run_id"] for run in platform.runs()}
    platform.submit(task_id, *completions)
    platform.dispatch(platform.queued())
    (new,) = [run for run in platform.runs() if run["run_id"] not in before]
    return new


def through(
    platform: Platform,
    progress: dict[str, Any],
    clock: StandingClock,
    *,
    until: timedelta = timedelta.max,
) -> tuple[dict[str, Any], int]:
    """Grade round after round, each after its sleep; return what is left, and how many it took."""
    rounds = 0
    while progress["remaining"] and clock.ahead < until:
        progress = platform.grade(progress)
        rounds += 1
        clock.turn(seconds=progress["sleep_seconds"])
    return progress, rounds


def single(task_id: str) -> dict[str, Any]:
    return {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r"}


def verdicts(platform: Platform, task_id: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    query = {"taskId": task_id, "limit": "100"}
    while True:
        page = platform.call("GET", "/api/v1/scores", query=query).json
        found += [(one["state"], one.get("reasonCode")) for one in page["scores"]]
        if "nextToken" not in page or page["nextToken"] is None:
            return found
        query["nextToken"] = page["nextToken"]


@pytest.mark.parametrize("completions", [1, 20])
@pytest.mark.parametrize("status", [503, 429])
def test_an_outage_of_days_costs_nobody_a_score(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, completions: int, status: int
) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 10})
    task_id = platform.new_task(grader_id)
    progress = started(platform, task_id, *({} for _ in range(completions)))
    grader.disease = answering(status)
    progress, rounds = through(platform, progress, clock, until=timedelta(days=3))
    assert verdicts(platform, task_id) == []
    assert rounds < 90  # of which a round each ten minutes would be 432
    assert progress["reason_code"] == ("grader_error" if status == 503 else "grader_rate_limited")
    assert progress["sleep_seconds"] <= 6 * 3_600 * 1.25

    grader.disease = healthy
    through(platform, progress, clock)
    assert verdicts(platform, task_id) == [("scored", None)] * completions


def test_a_week_of_waiting_costs_little(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 10}))
    progress = started(platform, task_id, *({} for _ in range(10)))
    grader.disease = answering(503)
    progress, rounds = through(platform, progress, clock, until=timedelta(days=6, hours=23))
    assert progress["remaining"] == 10
    assert len(grader.requests) == rounds
    prices = json.loads(PRICES.read_text())["prices"]
    dollars = rounds * TRANSITIONS_OF_A_ROUND * prices["states_transition"]["usd"]
    assert dollars / 10 < 0.001  # alone, a completion costs what the run does: 0.005
    assert dollars < 0.006


def test_a_grader_that_never_comes_back_is_waited_for_until_the_deadline(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader), deadlineSeconds=7_200)
    progress = started(platform, task_id, {})
    grader.disease = answering(503)
    through(platform, progress, clock)
    assert verdicts(platform, task_id) == [("failed", "deadline_exceeded")]
    assert timedelta(seconds=7_000) < clock.ahead < timedelta(seconds=7_200 + 660)


def test_no_look_comes_before_the_time_that_the_grader_asked_for(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    progress = started(platform, platform.new_task(platform.new_grader(grader)), {})
    grader.disease = answering(429, retry_after="890")
    for _ in range(20):
        progress = platform.grade(progress)
        assert progress["sleep_seconds"] >= 890
        clock.turn(seconds=progress["sleep_seconds"])


def poisonous(exchange: Exchange) -> None:
    if POISON.encode() in exchange.request_body:
        exchange.status = 500


def test_one_poisonous_text_does_not_hold_its_neighbours(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 50})
    task_id = platform.new_task(grader_id)
    texts = [{"prompt": POISON if n == 17 else f"healthy {n}"} for n in range(100)]
    progress = started(platform, task_id, *texts)
    grader.disease = poisonous
    left, _ = through(platform, progress, clock, until=timedelta(minutes=20))
    assert left["remaining"] == 1
    assert verdicts(platform, task_id) == [("scored", None)] * 99

    while left["remaining"]:
        # Others of the grader pass meanwhile, which shows that it is not down.
        other = started(platform, task_id, {})
        through(platform, other, clock)
        left = platform.grade(left)
        clock.turn(seconds=left["sleep_seconds"])
    ended = [one for one in verdicts(platform, task_id) if one[0] != "scored"]
    assert ended == [("failed", "grader_error")]
    assert left["attempt"] >= 7
    assert timedelta(hours=1) <= clock.ahead < timedelta(hours=3)


def test_who_waits_for_an_open_circuit_suspects_no_text(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    """A round that asked nobody does not show that the grader answers others."""
    task_id = platform.new_task(platform.new_grader(grader))
    runs = [started(platform, task_id, {}) for _ in range(3)]
    grader.disease = answering(503)
    awake_at = [timedelta()] * len(runs)
    waits = 0
    while clock.ahead < timedelta(hours=3):
        number = awake_at.index(min(awake_at))
        clock.ahead = max(clock.ahead, awake_at[number])
        runs[number] = platform.grade(runs[number])
        waits += runs[number]["is_down"]
        awake_at[number] = clock.ahead + timedelta(seconds=runs[number]["sleep_seconds"])
    assert waits > 3
    assert [run["suspect_attempts"] for run in runs] == [0] * len(runs)
    assert verdicts(platform, task_id) == []


@pytest.mark.parametrize("status", [503, 429])
def test_one_failure_after_an_outage_ends_no_healthy_text(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock, status: int
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    first, second = (started(platform, task_id, {}) for _ in range(2))
    grader.disease = answering(status)
    while clock.ahead < timedelta(hours=3):
        first, second = platform.grade(first), platform.grade(second)
        clock.turn(seconds=max(first["sleep_seconds"], second["sleep_seconds"]))
    grader.disease = healthy
    through(platform, first, clock)
    grader.disease = answering(503)
    second = platform.grade(second)
    assert second["remaining"] == 1
    grader.disease = healthy
    clock.turn(seconds=second["sleep_seconds"])
    through(platform, second, clock)
    assert verdicts(platform, task_id) == [("scored", None)] * 2


def test_a_wait_for_the_circuit_is_no_shorter_than_the_deadline(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id, deadlineSeconds=86_400)
    waiting, probing = (started(platform, task_id, {}) for _ in range(2))
    grader.disease = answering(503)
    while waiting["remaining"]:
        # Another run has each probe, so that this one only ever waits.
        while clock.ahead < timedelta(days=2) and probing["remaining"]:
            probing = platform.grade(probing)
            if probing["sleep_seconds"] > 20:
                break
            clock.turn(seconds=probing["sleep_seconds"])
        waiting = platform.grade(waiting)
        clock.turn(seconds=max(waiting["sleep_seconds"], 1))
    assert clock.ahead > timedelta(hours=23, minutes=30)


def test_a_refusal_shows_neither_that_a_grader_is_down_nor_that_it_answers(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    progress = started(platform, task_id, {})
    grader.disease = answering(408)
    progress, _ = through(platform, progress, clock, until=timedelta(hours=5))
    assert progress["remaining"] == 1
    assert progress["suspect_attempts"] == 0


def test_what_waits_says_why_and_until_when(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 10})
    task_id = platform.new_task(grader_id)
    accepted = platform.submit(task_id, {}, {}).json
    path = f"/api/v1/completions/{accepted['completionIds'][0]}/score"
    assert platform.call("GET", path).json["verdict"]["reasonCode"] is None
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    grader.disease = answering(503)
    for attempts in (1, 2):
        progress = platform.grade(progress)
        for verdict in [
            platform.call("GET", path).json["verdict"],
            *platform.batch(accepted["batchId"])["verdicts"],
        ]:
            assert (verdict["state"], verdict["reasonCode"]) == ("pending", "grader_error")
            assert verdict["attempts"] == attempts
            (run,) = platform.call("GET", "/api/v1/runs").json["runs"]
            next_attempt_at = datetime.fromisoformat(verdict["nextAttemptAt"])
            assert abs(next_attempt_at - datetime.fromisoformat(run["sleepUntil"])) < SOON
        clock.turn(seconds=progress["sleep_seconds"])
    grader.disease = healthy
    platform.grade(progress)
    for verdict in platform.batch(accepted["batchId"])["verdicts"]:
        assert (verdict["state"], verdict["reasonCode"]) == ("scored", None)
        assert verdict["nextAttemptAt"] is None


def test_what_comes_after_the_circuit_opened_says_why_it_is_not_asked(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    first = started(platform, task_id, {})
    grader.disease = answering(503)
    for _ in range(3):
        clock.turn(seconds=first.get("sleep_seconds", 0))
        first = platform.grade(first)
    asked = len(grader.requests)
    second = started(platform, task_id, {})
    platform.grade(second)
    assert len(grader.requests) == asked
    (completion_id,) = second["completion_ids"]
    path = f"/api/v1/completions/{completion_id}"
    verdict = platform.call("GET", f"{path}/score").json["verdict"]
    assert (verdict["attempts"], verdict["reasonCode"]) == (0, "grader_error")
    assert verdict["nextAttemptAt"] is not None
    (asking,) = platform.call("GET", f"{path}/explanation").json["graders"]
    assert (asking["waitsFor"], asking["reasonCode"]) == ("circuit", "grader_error")
    run = platform.call("GET", f"/api/v1/runs/{asking['runId']}").json["run"]
    assert (run["step"], run["reasonCode"]) == ("wait_for_circuit", "grader_error")


def test_a_grader_that_its_owner_mends_and_verifies_is_asked_at_once(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    first = started(platform, task_id, {})
    grader.disease = answering(503)
    for _ in range(3):
        clock.turn(seconds=first.get("sleep_seconds", 0))
        first = platform.grade(first)
    second = started(platform, task_id, {})
    assert platform.grade(second)["is_down"]
    grader.disease = healthy
    assert platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json["verified"]
    assert platform.grade(second)["remaining"] == 0
    assert verdicts(platform, task_id) == [("scored", None)]


def test_a_grader_that_is_verified_and_does_not_score_ends_no_text(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    def no_scores(exchange: Exchange) -> None:
        if not exchange.path.endswith("/health") and POISON.encode() in exchange.request_body:
            exchange.status = 503

    graders_api.parts().budget_states.clock = clock
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    progress = started(platform, task_id, {"prompt": POISON})
    grader.disease = no_scores
    while clock.ahead < timedelta(hours=3) and progress["remaining"]:
        progress = platform.grade(progress)
        clock.turn(seconds=min(progress["sleep_seconds"], 240))
        assert platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json["verified"]
    assert verdicts(platform, task_id) == []


def test_what_ends_at_its_deadline_says_what_it_failed_with(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    task_id = platform.new_task(platform.new_grader(grader), deadlineSeconds=600)
    progress = started(platform, task_id, {})
    grader.disease = answering(503)
    through(platform, progress, clock)
    (completion_id,) = progress["completion_ids"]
    path = f"/api/v1/completions/{completion_id}"
    verdict = platform.call("GET", f"{path}/score").json["verdict"]
    assert (verdict["reasonCode"], verdict["lastReasonCode"]) == (
        "deadline_exceeded",
        "grader_error",
    )
    (asked,) = platform.call("GET", f"{path}/explanation").json["graders"]
    assert (asked["lastReasonCode"], asked["runId"]) == ("grader_error", progress["run_id"])


def test_a_panel_that_waits_says_what_its_member_failed_with(
    platform: Platform, grader: LoopbackGrader
) -> None:
    with loopback_grader() as other:
        graders = [platform.new_grader(one) for one in (grader, other)]
        task_id = platform.new_task(graders=[{"graderId": id_} for id_ in graders])
        accepted = platform.submit(task_id, {}).json
        platform.dispatch(platform.queued())
        grader.disease = answering(503)
        for progress in platform.runs():
            platform.grade(progress)
    (verdict,) = platform.batch(accepted["batchId"])["verdicts"]
    assert verdict["graderId"].startswith("pnl_")
    assert (verdict["state"], verdict["reasonCode"]) == ("pending", "grader_error")
