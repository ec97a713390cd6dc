"""A run whose grader answers later waits with one token, and goes on when it is woken."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.scoring import grade_chunk
from tests.component.judging.conftest import Starter, change, due_in, item
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange, answering, deferring
from tests.support.lambdas import handler
from tests.support.platform import Platform


def test_a_deferred_completion_waits_until_its_time_out(start: Starter) -> None:
    waiting = start({}, {}, settings={"timeoutSeconds": 3600})
    left = waiting.progress
    assert (left["remaining"], left["waiting"]) == (0, 2)
    assert len(left["waiting_ids"]) == 2
    assert 3590 < left["wait_seconds"] <= 3600
    run = waiting.run()
    assert (run["state"], run["step"], run["remaining"]) == ("waiting", "wait_for_callback", 2)
    assert run["sleepUntil"] is not None
    assert run["counts"]["pending"] == 2
    assert due_in(waiting.batch_id) > 3600
    assert waiting.tokens == []


def test_a_callback_decides_and_wakes_the_run(start: Starter) -> None:
    waiting = start({"metadata": {"value": 0.25}}, {"metadata": {"abstain": True}})
    answer = waiting.answer()
    assert answer.status == 200
    assert answer.json["requestId"] == waiting.grader.requests[-1][1]["requestId"]
    assert waiting.states() == [("scored", None), ("abstained", None)]
    assert waiting.tokens == ["token"]
    assert due_in(waiting.batch_id) < 200

    left = waiting.platform.grade(waiting.progress)
    assert (left["remaining"], left["waiting"]) == (0, 0)
    assert waiting.run()["state"] == "completed"
    assert len(waiting.grader.requests) == 1


def test_one_completion_alone_is_answered_as_one(start: Starter) -> None:
    waiting = start({"metadata": {"value": 0.75}})
    assert waiting.grader.requests[-1][0] == "/score"
    assert waiting.answer().status == 200
    (verdict,) = waiting.platform.batch(waiting.batch_id)["verdicts"]
    assert (verdict["score"]["value"], verdict["attempts"]) == (0.75, 1)


def test_a_run_is_woken_by_the_last_of_its_callbacks(start: Starter) -> None:
    waiting = start({}, {}, {}, max_batch_size=1)
    assert waiting.answer(0).status == 200
    assert waiting.answer(2).status == 200
    assert waiting.tokens == []
    assert waiting.answer(1).status == 200
    assert waiting.tokens == ["token"]


def test_an_answer_that_comes_before_the_wait_begins_ends_it_at_once(start: Starter) -> None:
    waiting = start({}, wait=False)
    assert waiting.answer().status == 200
    assert waiting.tokens == []
    waiting.platform.await_answers(waiting.progress, "fresh")
    assert waiting.tokens == ["fresh"]


def test_an_answer_that_overtakes_the_202_is_taken(start: Starter) -> None:
    early: list[Any] = []

    def overtaking(exchange: Exchange) -> None:
        deferring(exchange)
        early.append(waiting_call())

    waiting = start({}, {})

    def waiting_call() -> Any:
        return waiting.answer()

    platform, grader = waiting.platform, waiting.grader
    grader.disease = overtaking
    accepted = platform.submit(platform.new_task(waiting.grader_id), {"prompt": "other"})
    platform.dispatch(platform.queued())
    progress = next(one for one in platform.runs() if one["run_id"] != waiting.progress["run_id"])
    left = platform.grade(progress)
    assert [answer.status for answer in early] == [200]
    platform.await_answers(left, "second")
    assert waiting.tokens == ["second"]
    assert platform.batch(accepted.json["batchId"])["counts"]["scored"] == 1


def test_an_asynchronous_grader_may_answer_at_once(start: Starter) -> None:
    waiting = start(wait=False)
    waiting.grader.disease = answering()
    platform = waiting.platform
    accepted = platform.submit(platform.new_task(waiting.grader_id), {"prompt": "other"})
    (end,) = [
        left for left in platform.score_everything() if left["run_id"] != waiting.progress["run_id"]
    ]
    assert end["waiting"] == 0
    assert platform.batch(accepted.json["batchId"])["counts"]["scored"] == 1


def test_who_is_not_asynchronous_may_not_defer_and_gets_no_callback_url(
    platform: Platform, grader: Any
) -> None:
    grader_id = platform.new_grader(grader)
    grader.disease = deferring
    accepted = platform.submit(platform.new_task(grader_id), {})
    platform.score_everything()
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "response_malformed")
    assert "callbackUrl" not in grader.requests[-1][1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sign": False}, "response_unsigned"),
        ({"secret": "wrong"}, "response_signature_invalid"),
        ({"body": b"{}"}, "response_malformed"),
        ({"body": b'{"requestId":"req_other","graderVersion":"1"}'}, "response_mismatched"),
    ],
)
def test_a_promise_is_checked_like_an_answer(
    start: Starter, changes: dict[str, Any], reason: str
) -> None:
    waiting = start({}, wait=False)

    def sick(exchange: Exchange) -> None:
        deferring(exchange)
        answering(**changes)(exchange)

    waiting.grader.disease = sick
    platform = waiting.platform
    accepted = platform.submit(platform.new_task(waiting.grader_id), {"prompt": "other"})
    platform.dispatch(platform.queued())
    for progress in platform.runs():
        if progress["run_id"] != waiting.progress["run_id"]:
            assert platform.grade(progress)["waiting"] == 0
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", reason)


def test_who_never_answers_fails_by_time_out(start: Starter) -> None:
    waiting = start({}, {}, settings={"timeoutSeconds": 60})
    waiting.age(61)
    left = waiting.platform.grade(waiting.progress)
    assert (left["remaining"], left["waiting"]) == (0, 0)
    assert waiting.states() == [("failed", "callback_timeout")] * 2
    assert waiting.run()["state"] == "completed"


def test_a_deadline_before_the_time_out_ends_the_wait(start: Starter) -> None:
    waiting = start({}, deadlineSeconds=60)
    assert waiting.progress["wait_seconds"] <= 60
    completion_id = waiting.progress["waiting_ids"][0]
    change(completion_id, "content", "created_at", "2026-01-01T00:00:00+00:00")
    assert waiting.platform.grade(waiting.progress)["waiting"] == 0
    assert waiting.states() == [("failed", "deadline_exceeded")]


def test_a_round_that_finds_it_too_early_waits_for_the_rest_of_the_time(start: Starter) -> None:
    waiting = start({}, settings={"timeoutSeconds": 100})
    waiting.age(40)
    left = waiting.platform.grade(waiting.progress)
    assert left["waiting"] == 1
    assert 50 < left["wait_seconds"] <= 60
    assert len(waiting.grader.requests) == 1


def test_an_answer_whose_recorder_died_is_applied_by_the_next_round(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.scoring.writing import VerdictWriter

    waiting = start({"metadata": {"value": 0.5}}, {})

    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as dying:
        dying.setattr(VerdictWriter, "apply", killed)
        assert waiting.answer().status == 500
    assert waiting.states() == []
    assert due_in(waiting.batch_id) < 200

    assert waiting.platform.grade(waiting.progress)["waiting"] == 0
    assert waiting.states() == [("scored", None)] * 2
    assert waiting.call_item()["answer_parts"] == 0


def test_an_answer_in_time_counts_although_it_is_applied_after_the_deadline(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.judging.http.callbacks import Callbacks

    waiting = start({}, deadlineSeconds=60)
    with monkeypatch.context() as dying:
        dying.setattr(Callbacks, "judged", lambda *_: iter(()))
        assert waiting.answer().status == 200
    grade_chunk.parts().writer.clock = TurnedClock(timedelta(seconds=61))
    waiting.platform.grade(waiting.progress)
    assert waiting.states() == [("scored", None)]


def test_the_same_answer_again_does_what_its_recorder_left_undone(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.scoring.writing import VerdictWriter

    waiting = start({})
    callback = waiting.grader.callback()

    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as dying:
        dying.setattr(VerdictWriter, "apply", killed)
        assert waiting.send(callback).status == 500
    assert waiting.send(callback).status == 200
    assert waiting.states() == [("scored", None)]
    assert waiting.tokens == ["token"]


def test_a_run_whose_execution_is_gone_ends_with_its_last_answer(start: Starter) -> None:
    waiting = start({}, token="lost")
    assert waiting.answer().status == 200
    stored = waiting.stored_run()
    assert (stored["state"], stored["open"]) == ("completed", False)
    assert "task_token" not in stored


def test_a_run_that_was_canceled_ends_its_execution_where_it_would_wait(start: Starter) -> None:
    waiting = start({}, wait=False)
    path = f"/api/v1/runs/{waiting.progress['run_id']}/cancel"
    assert waiting.platform.call("POST", path).status == 200
    waiting.platform.await_answers(waiting.progress, "unused")
    assert waiting.tokens == ["unused"]
    assert waiting.run()["state"] == "canceled"


def test_a_second_run_waits_for_the_call_of_the_first(start: Starter) -> None:
    waiting = start({}, {})
    again = {**waiting.progress, "run_id": "run_" + "0" * 26, "waiting_ids": []}
    again["completion_ids"] = waiting.progress["waiting_ids"]
    left = waiting.platform.grade({**again, "remaining": 2})
    assert left["waiting"] == 2
    assert len(waiting.grader.requests) == 1
    assert waiting.call_item()["run_id"] == again["run_id"]


def test_the_sweeper_leaves_alone_what_waits_and_drives_what_is_overdue(start: Starter) -> None:
    waiting = start({}, {}, settings={"timeoutSeconds": 100})
    platform = waiting.platform
    change(waiting.batch_id, "batch", "due_at", "2000-01-01T00:00:00.000+00:00")
    report = platform.operate("sweep_batches")
    assert (report["postponed"], report["redriven"]) == (1, 0)
    assert 100 < due_in(waiting.batch_id) < 300
    assert item(waiting.batch_id, "batch")["sweeps"] == 0

    waiting.age(101)
    change(waiting.batch_id, "batch", "due_at", "2000-01-01T00:00:00.000+00:00")
    assert platform.operate("sweep_batches")["redriven"] == 1
    platform.dispatch(platform.queued())
    (again,) = [one for one in platform.runs() if one["run_id"] != waiting.progress["run_id"]]
    platform.grade(again)
    assert waiting.states() == [("failed", "callback_timeout")] * 2


def test_a_deadline_ends_a_wait_whose_run_is_gone(start: Starter) -> None:
    waiting = start({}, deadlineSeconds=60)
    (completion_id,) = waiting.progress["waiting_ids"]
    before = (datetime.now(UTC) - timedelta(seconds=61)).isoformat()
    change(completion_id, "content", "created_at", before)
    change(waiting.batch_id, "batch", "created_at", before)
    change(waiting.batch_id, "batch", "due_at", "2000-01-01T00:00:00.000+00:00")
    assert waiting.platform.operate("sweep_batches")["failed"] == 1
    assert waiting.states() == [("failed", "deadline_exceeded")]


def test_a_heartbeat_hides_nothing_of_its_batch_from_the_sweeper(start: Starter) -> None:
    waiting = start({}, settings={"timeoutSeconds": 600_000})
    due = due_in(waiting.batch_id)
    assert waiting.answer(heartbeat=True).status == 200
    assert due_in(waiting.batch_id) <= due < 3_800


def test_a_run_that_gives_up_leaves_to_its_grader_what_waits_in_it(start: Starter) -> None:
    waiting = start({})
    handler("functions.scoring.fail_run")(waiting.progress, None)
    assert waiting.states() == []
    assert waiting.answer().status == 200
    assert waiting.states() == [("scored", None)]


def test_a_run_that_gives_up_decides_nothing_although_the_time_to_call_back_is_over(
    start: Starter,
) -> None:
    waiting = start({}, settings={"timeoutSeconds": 100})
    waiting.age(101)
    handler("functions.scoring.fail_run")(waiting.progress, None)
    assert waiting.states() == []
    assert due_in(waiting.batch_id) <= 180  # the sweeper redrives it


def test_a_grader_that_is_deleted_while_it_is_waited_for_fails_what_waits(start: Starter) -> None:
    waiting = start({})
    callback = waiting.grader.callback()
    waiting.platform.call("DELETE", f"/api/v1/graders/{waiting.grader_id}")
    assert waiting.send(callback).status == 404
    assert waiting.platform.grade(waiting.progress)["waiting"] == 0
    assert waiting.states() == [("failed", "grader_missing")]
