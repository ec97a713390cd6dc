"""Graders that answer later, whose completions are scored again meanwhile."""

from tests.component.judging.conftest import Starter, Waiting


def rescored(waiting: Waiting) -> None:
    """Cancel what waits, and score it again."""
    waiting.platform.call("POST", f"/api/v1/batches/{waiting.batch_id}/cancel")
    body = {"batchId": waiting.batch_id, "states": ["canceled"]}
    answer = waiting.platform.call("POST", "/api/v1/completions/rescore", body)
    assert answer.json["rescored"] == 2


def test_an_answer_to_a_call_of_before_is_no_verdict_of_the_later_generation(
    start: Starter,
) -> None:
    waiting = start({}, {})
    rescored(waiting)
    refused = waiting.answer(0)
    assert (refused.status, refused.json["code"]) == (409, "conflict")
    batch = waiting.platform.batch(waiting.batch_id)
    assert batch["counts"]["pending"] == 2


def test_the_grader_is_asked_anew_and_answers_that(start: Starter) -> None:
    waiting = start({}, {})
    rescored(waiting)
    before = waiting.progress["run_id"]
    waiting.platform.dispatch(waiting.platform.queued())
    (run,) = [run for run in waiting.platform.runs() if run["run_id"] != before]
    assert run["generation"] == 1
    left = waiting.platform.grade(run)
    assert left["waiting"] == 2
    assert waiting.call_id(0) != waiting.call_id(1)
    assert waiting.answer(1).status == 200
    batch = waiting.platform.batch(waiting.batch_id)
    assert [one["state"] for one in batch["verdicts"]] == ["scored"] * 2
    assert [one["generation"] for one in batch["verdicts"]] == [1, 1]
    assert (
        waiting.platform.call("GET", f"/api/v1/runs/{run['run_id']}").json["run"]["generation"] == 1
    )
