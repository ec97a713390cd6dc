"""A call that takes long is made once more where the owner wants it and the limits allow it."""

import threading
from typing import Any

import pytest

from functions.scoring import grade_chunk
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.parts import permits
from tests.support.platform import Platform

PATIENCE_SECONDS = 20


class Arrivals:
    """Tells requests apart by the order in which they reach the grader."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def first(self) -> bool:
        with self._lock:
            self._count += 1
            return self._count == 1


class Race:
    """A grader's disease: its first request is answered only once the verdicts are written."""

    def __init__(self, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
        self.decided = threading.Event()
        self.request_ids: list[str] = []
        self._arrivals = Arrivals()
        writer = grade_chunk.parts().writer
        write = writer.write

        def write_and_signal(*arguments: Any, **options: Any) -> None:
            write(*arguments, **options)
            self.decided.set()

        monkeypatch.setattr(writer, "write", write_and_signal)

    def __call__(self, exchange: Exchange) -> None:
        self.request_ids.append(exchange.request_id)
        is_first = self._arrivals.first()
        if is_first:
            assert self.decided.wait(PATIENCE_SECONDS)
        for item in exchange.items:
            item["score"]["value"] = 0.25 if is_first else 0.75


@pytest.fixture
def race(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Race:
    return Race(platform, monkeypatch)


def start(platform: Platform, grader: LoopbackGrader, **limits: Any) -> tuple[str, str, Any]:
    """Submit to a grader with these limits; return it, the batch, and the state of the run."""
    grader_id = platform.new_grader(
        grader, limits={"hedgeAfterMs": 100, **limits}, capabilities={"maxBatchSize": 10}
    )
    accepted = platform.submit(platform.new_task(grader_id), {}, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    return grader_id, accepted.json["batchId"], progress


def values(platform: Platform, batch_id: str) -> list[float]:
    return [verdict["score"]["value"] for verdict in platform.batch(batch_id)["verdicts"]]


def late_answers(platform: Platform, progress: Any) -> int:
    run = platform.call("GET", f"/api/v1/runs/{progress['run_id']}").json["run"]
    late: int = run["lateAnswers"]
    return late


def test_the_first_good_answer_wins_and_the_other_is_late(
    platform: Platform, grader: LoopbackGrader, race: Race
) -> None:
    _, batch_id, progress = start(platform, grader)
    grader.disease = race
    assert platform.grade(progress)["remaining"] == 0
    assert values(platform, batch_id) == [0.75, 0.75]
    assert len(set(race.request_ids)) == len(race.request_ids) == 2
    assert late_answers(platform, progress) == 2


def test_a_second_call_takes_a_slot_of_its_own_and_releases_it(
    platform: Platform, grader: LoopbackGrader, race: Race
) -> None:
    grader_id, batch_id, progress = start(platform, grader, maxConcurrency=2)
    budgets = permits().budgets
    held: list[int] = []

    def look(exchange: Exchange) -> None:
        leases = budgets.change_leases(grader_id, 0, lambda leases: (leases, leases))
        held.append(sum(lease.slots for lease in leases.held.values()))
        race(exchange)

    grader.disease = look
    platform.grade(progress)
    assert held[1] == 2
    assert values(platform, batch_id) == [0.75, 0.75]
    left = budgets.change_leases(grader_id, 0, lambda leases: (leases, leases))
    assert left.held == {}


@pytest.mark.parametrize("limits", [{"maxConcurrency": 1}, {"requestsPerSecond": 0.01}])
def test_no_second_call_is_made_that_the_limits_forbid(
    platform: Platform,
    grader: LoopbackGrader,
    monkeypatch: pytest.MonkeyPatch,
    limits: dict[str, Any],
) -> None:
    from autotune_platform.judging.http.hedging import Hedging

    _, batch_id, progress = start(platform, grader, **limits)
    refused = threading.Event()
    take_slot = Hedging._slot

    def take_and_signal(hedging: Hedging) -> Any:
        slot = take_slot(hedging)
        refused.set()
        return slot

    monkeypatch.setattr(Hedging, "_slot", take_and_signal)
    grader.disease = lambda _: refused.wait(PATIENCE_SECONDS) and None
    assert platform.grade(progress)["remaining"] == 0
    assert refused.is_set()
    assert len(grader.requests) == 1
    assert values(platform, batch_id) == [0.5, 0.5]


def test_a_grader_whose_owner_did_not_ask_for_it_is_never_hedged(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.judging.http.hedging import Hedging

    def never(_: Hedging) -> None:
        raise AssertionError

    monkeypatch.setattr(Hedging, "_slot", never)
    _, batch_id, progress = start(platform, grader, hedgeAfterMs=None)
    grader.disease = lambda exchange: setattr(exchange, "delay_seconds", 0.2)
    platform.grade(progress)
    assert len(grader.requests) == 1
    assert values(platform, batch_id) == [0.5, 0.5]


def test_a_second_call_that_fails_leaves_the_answer_to_the_first(
    platform: Platform, grader: LoopbackGrader
) -> None:
    _, batch_id, progress = start(platform, grader)
    failed, arrivals = threading.Event(), Arrivals()

    def disease(exchange: Exchange) -> None:
        if arrivals.first():
            assert failed.wait(PATIENCE_SECONDS)
        else:
            exchange.status = 500
            failed.set()

    grader.disease = disease
    left = platform.grade(progress)
    assert (left["remaining"], left["attempt"]) == (0, 0)
    assert values(platform, batch_id) == [0.5, 0.5]
    assert late_answers(platform, progress) == 0


def test_two_failed_calls_of_one_question_are_one_failure_to_the_circuit(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id, _, progress = start(platform, grader)
    failed, arrivals = threading.Event(), Arrivals()

    def disease(exchange: Exchange) -> None:
        if arrivals.first():
            assert failed.wait(PATIENCE_SECONDS)
        failed.set()
        exchange.status = 503

    grader.disease = disease
    left = platform.grade(progress)
    assert (left["remaining"], left["attempt"], len(grader.requests)) == (2, 1, 2)
    circuit = permits().budgets.circuit(grader_id)
    assert sum(outcomes.failed for outcomes in circuit.recent.values()) == 1


@pytest.mark.parametrize("after", [99, 30_001, 150.5, "150", True])
def test_the_time_before_a_second_call_has_a_range(platform: Platform, after: Any) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1", "limits": {"hedgeAfterMs": after}}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert (answer.status, set(answer.fields)) == (422, {"limits.hedgeAfterMs"})
