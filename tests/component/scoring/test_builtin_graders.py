"""Completions of a builtin grader are judged by the run itself: no call, no grader process."""

from typing import Any

import pytest

from autotune_platform.judging import builtin
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform


def registered(platform: Platform, configuration: dict[str, Any]) -> dict[str, Any]:
    body = {"name": "g", "kind": "builtin", "builtin": configuration}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 201, answer.text
    grader: dict[str, Any] = answer.json["grader"]
    return grader


EXACT = {"type": "exact_match", "reference": "{{ item.answer }}"}


def test_a_builtin_grader_scores_and_fails_and_is_counted(platform: Platform) -> None:
    grader = registered(platform, EXACT)
    task_id = platform.new_task(grader["id"])
    submitted = platform.submit(
        task_id,
        {"response": "Paris", "metadata": {"answer": "Paris"}},
        {"response": "Rome", "metadata": {"answer": "Paris"}},
        {"response": "Paris", "metadata": {}},
    )
    platform.score_everything()
    batch = platform.batch(submitted.json["batchId"])
    right, wrong, missing = batch["verdicts"]
    assert (right["score"]["value"], wrong["score"]["value"]) == (1.0, 0.0)
    assert right["score"]["confidence"] == 1.0
    assert right["score"]["graderVersion"] == grader["version"]
    assert (missing["state"], missing["reasonCode"]) == ("failed", "builtin_input_missing")
    assert missing.get("score") is None
    platform.project()
    stats = platform.call("GET", f"/api/v1/graders/{grader['id']}/stats").json
    assert (stats["counts"]["scored"], stats["counts"]["failed"]) == (2, 1)
    assert stats["failures"] == {"builtin_input_missing": 1}
    assert stats["versions"][0]["version"] == grader["version"]


def test_what_there_is_no_time_for_waits_for_the_next_round(platform: Platform) -> None:
    task_id = platform.new_task(registered(platform, EXACT)["id"])
    submitted = platform.submit(task_id, *[{"metadata": {"answer": "r"}} for _ in range(3)])
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    grade = handler("functions.scoring.grade_chunk")
    left = grade(run, LambdaContext(seconds=1))
    assert (left["remaining"], left["sleep_seconds"], left["attempt"]) == (3, 0, 0)
    assert grade(left, LambdaContext())["remaining"] == 0
    assert platform.batch(submitted.json["batchId"])["counts"]["scored"] == 3


def test_what_breaks_a_library_is_a_failure_and_tells_nobody_the_text(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaking(_stored: Any) -> Any:
        def judge(_sample: Any) -> Any:
            raise RuntimeError("a secret prompt")

        return judge

    logged: list[str] = []
    monkeypatch.setattr(builtin, "compile_stored", breaking)
    monkeypatch.setattr(
        builtin.logger, "warning", lambda *told, **fields: logged.append(repr((told, fields)))
    )
    task_id = platform.new_task(registered(platform, EXACT)["id"])
    submitted = platform.submit(task_id, {"metadata": {"answer": "r"}})
    platform.score_everything()
    (verdict,) = platform.batch(submitted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "builtin_error")
    assert len(logged) == 1
    assert "RuntimeError" in logged[0]
    assert "a secret prompt" not in logged[0]


def test_a_public_builtin_grader_serves_others(platform: Platform) -> None:
    grader = registered(platform, EXACT)
    platform.call("PATCH", f"/api/v1/graders/{grader['id']}", {"visibility": "public"})
    other = platform.new_organization("second")
    body = {"name": "t", "graderId": grader["id"]}
    task = platform.call("POST", "/api/v1/tasks", body, api_key=other)
    assert task.status == 201, task.text
