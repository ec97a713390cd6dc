"""Graders that are ill: no score comes from a failure, and no completion is lost by one."""

import json
import time

import pytest

from tests.support.graders import (
    Disease,
    Exchange,
    LoopbackGrader,
    answering,
    loopback_grader,
    scoring,
)
from tests.support.platform import Platform


def _another_requests_answer(exchange: Exchange) -> None:
    exchange.signed_request_id = "req_of_somebody_else"


def _another_requests_id(exchange: Exchange) -> None:
    exchange.answer["requestId"] = "req_of_somebody_else"


FINAL = {
    "value of 1.2": (scoring(1.2), {"response_malformed", "item_malformed"}),
    "NaN": (scoring(float("nan")), {"response_malformed", "item_malformed"}),
    "a string for a value": (scoring("0.5"), {"response_malformed", "item_malformed"}),
    "true for a value": (scoring(value=True), {"response_malformed", "item_malformed"}),
    "garbage": (answering(body=b"\xff<html>"), {"response_malformed"}),
    "a JSON list": (answering(body=b"[]"), {"response_malformed"}),
    "unsigned": (answering(sign=False), {"response_unsigned"}),
    "wrong signature": (answering(secret="wrong"), {"response_signature_invalid"}),
    "another request's answer": (_another_requests_answer, {"response_signature_invalid"}),
    "signed over another body": (
        answering(signed_request_body=b"{}"),
        {"response_signature_invalid"},
    ),
    "another request's id": (_another_requests_id, {"response_mismatched"}),
    "too large": (answering(body=b" " * 4_000_001), {"response_too_large"}),
    "redirect": (answering(status=302, headers={"location": "/"}), {"redirect_refused"}),
    "refusal": (answering(status=422), {"grader_rejected"}),
    "nothing to do": (answering(status=202), {"response_malformed"}),
}


@pytest.mark.parametrize("batch_size", [1, 8], ids=["single", "batch"])
@pytest.mark.parametrize(("disease", "codes"), FINAL.values(), ids=FINAL.keys())
def test_a_bad_answer_is_failed_at_once_and_never_a_score(
    platform: Platform,
    grader: LoopbackGrader,
    disease: Disease,
    codes: set[str],
    batch_size: int,
) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": batch_size})
    task_id = platform.new_task(grader_id)
    grader.disease = disease
    accepted = platform.submit(task_id, *({"prompt": str(n)} for n in range(batch_size)))

    platform.score_everything()

    verdicts = platform.batch(accepted.json["batchId"])["verdicts"]
    assert {verdict["state"] for verdict in verdicts} == {"failed"}
    assert {verdict["reasonCode"] for verdict in verdicts} <= codes
    assert all(verdict.get("score") is None for verdict in verdicts)
    assert len(grader.requests) == 1


PASSING = {
    "500": (answering(status=500), "grader_error"),
    "503": (answering(status=503), "grader_error"),
    "408": (answering(status=408), "grader_error"),
    "429": (answering(status=429), "grader_rate_limited"),
    "dropped connection": (answering(drop=True), "grader_unreachable"),
}


@pytest.mark.parametrize(("disease", "code"), PASSING.values(), ids=PASSING.keys())
def test_a_passing_failure_is_tried_again_until_the_deadline(
    platform: Platform, grader: LoopbackGrader, disease: Disease, code: str
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    grader.disease = disease
    accepted = platform.submit(task_id, {})

    platform.score_everything()

    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "deadline_exceeded")
    assert verdict["attempts"] == len(grader.requests) > 8
    (run,) = platform.call("GET", "/api/v1/runs").json["runs"]
    assert run["reasonCode"] == code


def test_a_passing_failure_that_passes_is_scored(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))

    def twice_ill(exchange: Exchange) -> None:
        if len(grader.requests) < 3:
            exchange.status = 503
            exchange.headers["retry-after"] = "7"

    grader.disease = twice_ill
    accepted = platform.submit(task_id, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()

    after_first = platform.grade(progress)
    assert after_first["sleep_seconds"] >= 7
    assert after_first["attempt"] == 1
    left = platform.grade(platform.grade(after_first))

    assert left["remaining"] == 0
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert (verdict["state"], verdict["attempts"]) == ("scored", 3)


@pytest.mark.parametrize(
    "slowness", [{"delay_seconds": 60}, {"drip_seconds": 0.1}], ids=["silent", "dripping"]
)
def test_a_slow_answer_ends_with_the_calls_time(
    platform: Platform,
    grader: LoopbackGrader,
    slowness: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    grader.disease = answering(**slowness)
    platform.submit(task_id, {})
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    monkeypatch.setattr("autotune_platform.judging.http.round_calls.CALL_TIMEOUT_SECONDS", 0.3)

    begun = time.monotonic()
    left = platform.grade(progress)
    assert time.monotonic() - begun < 5
    assert (left["remaining"], left["attempt"], left["reason_code"]) == (1, 1, "grader_timeout")


def test_a_stopped_grader_is_unreachable(platform: Platform) -> None:
    with loopback_grader() as grader:
        task_id = platform.new_task(platform.new_grader(grader))
    accepted = platform.submit(task_id, {})
    platform.score_everything()
    (verdict,) = platform.batch(accepted.json["batchId"])["verdicts"]
    assert verdict["reasonCode"] == "deadline_exceeded"
    (run,) = platform.call("GET", "/api/v1/runs").json["runs"]
    assert run["reasonCode"] == "grader_unreachable"


def test_broken_items_of_a_batch_fail_alone(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 10})
    task_id = platform.new_task(grader_id)

    def half(exchange: Exchange) -> None:
        scores = exchange.answer["scores"]
        scores[1] = {"completionId": scores[1]["completionId"], "error": "SECRET grader text"}
        scores[2]["score"]["value"] = 7
        scores[3]["score"] = None
        scores.append(scores[4])
        scores[5] = "garbage"
        scores[6] = {"completionId": "cmp_nobody_asked_for", "score": {"value": 1}}

    grader.disease = half
    accepted = platform.submit(task_id, *({"prompt": str(n)} for n in range(8)))

    platform.score_everything()

    batch = platform.batch(accepted.json["batchId"])
    assert [verdict["state"] for verdict in batch["verdicts"]] == [
        "scored",
        *["failed"] * 6,
        "scored",
    ]
    assert [verdict.get("reasonCode") for verdict in batch["verdicts"]][1:7] == [
        "item_failed",
        "item_malformed",
        "item_malformed",
        "item_duplicated",
        "item_missing",
        "item_missing",
    ]
    assert "SECRET" not in json.dumps(batch)
