"""What graders send later: signed for one request, taken once, refused in clear words."""

import json
from contextlib import suppress
from typing import Any

import boto3
import pytest

from autotune.protocol.limits import MAX_GRADER_RESPONSE_BYTES
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.verdicts.listing import DecisionLists
from functions.scoring import callbacks_api
from tests.component.audit.log import entries
from tests.component.judging.conftest import Starter, Waiting, change
from tests.infra.permissions import EXPECTED
from tests.support.graders import LoopbackGrader
from tests.support.killing import Killed, Killer
from tests.support.platform import Platform
from tests.support.projected import checkpoints


def late_answers(waiting: Waiting) -> tuple[int, int]:
    """Late answers as the run and the grader's statistics count them."""
    registry = boto3.resource("dynamodb").Table("registry")
    key = {"pk": waiting.grader_id, "sk": "statistics#1.0.0#late"}
    of_grader = registry.get_item(Key=key).get("Item", {}).get("late_answers", 0)
    return waiting.run()["lateAnswers"], int(str(of_grader))


def test_a_second_answer_with_the_same_body_changes_nothing(start: Starter) -> None:
    waiting = start({}, {})
    first = waiting.answer()
    before = waiting.platform.batch(waiting.batch_id)
    second = waiting.answer()
    assert (second.status, second.json) == (200, first.json)
    assert waiting.platform.batch(waiting.batch_id) == before
    assert late_answers(waiting) == (0, 0)


def test_an_answer_that_is_applied_twice_at_the_same_time_is_not_late(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = start({}, {})
    write = VerdictWriter.write
    overtaking: list[int] = []

    def overtaken(self: VerdictWriter, *arguments: Any, **options: Any) -> None:
        if not overtaking:
            overtaking.append(1)
            callback = waiting.grader.callback()
            call_id = callback.url.rpartition("/")[2]
            service = callbacks_api.parts().callback_service
            proven = service.prove(call_id, callback.headers, callback.body)
            service.answer(proven, callback.body)
        write(self, *arguments, **options)

    monkeypatch.setattr(VerdictWriter, "write", overtaken)
    assert waiting.answer().status == 200
    assert overtaking
    assert waiting.states() == [("scored", None)] * 2
    assert late_answers(waiting) == (0, 0)


def test_whatever_becomes_of_a_callback_its_grader_is_audited_and_not_where_it_is(
    start: Starter,
) -> None:
    waiting = start({})
    assert waiting.answer(answer={"requestId": "wrong"}).status == 422
    assert waiting.answer(secret="wrong").status == 404
    assert waiting.answer().status == 200
    told = [(one["status"], one["principalId"]) for one in entries(action="answer_call")]
    assert sorted(told) == [(200, waiting.grader_id), (422, waiting.grader_id)]
    assert {one["sourceAddress"] for one in entries(action="answer_call")} == {""}


def test_a_second_answer_with_another_body_is_refused(start: Starter) -> None:
    waiting = start({})
    waiting.answer()
    before = waiting.platform.batch(waiting.batch_id)
    said = waiting.grader.scores("/score", "", waiting.grader.requests[-1][1])
    other = {**said, "requestId": waiting.grader.requests[-1][1]["requestId"]}
    other["score"] = {"value": 0.1, "confidence": 1.0}
    answer = waiting.answer(answer=other)
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert waiting.platform.batch(waiting.batch_id) == before


def test_unknown_and_wrongly_signed_look_the_same(start: Starter) -> None:
    waiting = start({})
    forged = waiting.answer(secret="wrong")
    callback = waiting.grader.callback()
    unknown = waiting.platform.call_back(
        "/api/v1/callbacks/call_" + "0" * 26, callback.body, callback.headers
    )
    unsigned = waiting.platform.call_back(f"/api/v1/callbacks/{waiting.call_id()}", b"{}", {})
    malformed = waiting.platform.call_back("/api/v1/callbacks/other", callback.body, {})
    told = [{**answer.json, "requestId": None} for answer in (forged, unknown, unsigned, malformed)]
    assert [answer.status for answer in (forged, unknown, unsigned, malformed)] == [404] * 4
    assert all(one == told[0] for one in told)
    assert waiting.states() == []
    assert waiting.tokens == []


def test_the_answer_to_another_request_does_not_fit(start: Starter) -> None:
    waiting = start({}, {}, max_batch_size=1)
    first, second = waiting.grader.callback(0), waiting.grader.callback(1)
    moved = waiting.platform.call_back(
        f"/api/v1/callbacks/{waiting.call_id(0)}", second.body, second.headers
    )
    assert moved.status == 404
    assert waiting.send(first).status == 200


def test_an_answer_that_misses_some_items_fails_only_those(start: Starter) -> None:
    waiting = start({}, {}, {})
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    said["scores"][1] = {"completionId": asked["completions"][1]["id"], "score": {"value": 2}}
    del said["scores"][2]
    assert waiting.answer(answer=said).status == 200
    assert waiting.states() == [
        *[("scored", None), ("failed", "item_malformed"), ("failed", "item_missing")]
    ]


@pytest.mark.parametrize(
    ("change_answer", "field"),
    [
        (lambda said: said.pop("graderVersion"), "body"),
        (lambda said: said.update(score={"value": 7}), "body"),
        (lambda said: said.update(requestId="req_other"), "requestId"),
    ],
)
def test_a_broken_answer_is_told_and_a_better_one_taken(
    start: Starter, change_answer: Any, field: str
) -> None:
    waiting = start({})
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    change_answer(said)
    answer = waiting.answer(answer=said)
    assert answer.status == 422
    assert field in answer.fields
    assert waiting.states() == []
    assert waiting.answer().status == 200


def test_an_answer_over_the_limit_names_it(start: Starter) -> None:
    waiting = start({})
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    answer = waiting.answer(answer={**said, "more": "x" * MAX_GRADER_RESPONSE_BYTES})
    assert answer.status == 413
    assert answer.json["limit"]["maximum"] == MAX_GRADER_RESPONSE_BYTES


def test_a_large_answer_is_recorded_in_parts(start: Starter) -> None:
    waiting = start({})
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    noise = "".join(chr(0x4E00 + (n * 7919 * n) % 20_000) for n in range(300_000))
    assert waiting.answer(answer={**said, "ignored": noise}).status == 200
    assert waiting.states() == [("scored", None)]
    assert waiting.call_item()["answer_parts"] == 0


def test_an_answer_to_a_canceled_run_is_late(start: Starter) -> None:
    waiting = start({}, {})
    waiting.platform.call("POST", f"/api/v1/runs/{waiting.progress['run_id']}/cancel")
    answer = waiting.answer()
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert waiting.states() == [("canceled", None)] * 2
    assert late_answers(waiting) == (2, 2)


def test_what_is_canceled_of_an_answer_is_late_and_the_rest_counts(start: Starter) -> None:
    waiting = start({}, {})
    first = waiting.progress["waiting_ids"][0]
    waiting.platform.call("POST", f"/api/v1/completions/{first}/cancel")
    assert waiting.answer().status == 200
    assert waiting.states() == [("canceled", None), ("scored", None)]
    assert late_answers(waiting) == (1, 1)


@pytest.mark.parametrize("rounds", [0, 1])
def test_an_answer_after_its_time_is_late_whoever_sees_it_first(
    start: Starter, rounds: int
) -> None:
    waiting = start({}, settings={"timeoutSeconds": 60})
    waiting.age(61)
    for _ in range(rounds):
        waiting.platform.grade(waiting.progress)
    answer = waiting.answer()
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert waiting.states() == [("failed", "callback_timeout")]
    assert late_answers(waiting) == (1, 1)


def test_an_answer_after_the_deadline_is_late(start: Starter) -> None:
    waiting = start({}, deadlineSeconds=60)
    completion_id = waiting.progress["waiting_ids"][0]
    change(completion_id, "content", "created_at", "2026-01-01T00:00:00+00:00")
    assert [waiting.answer().status for _ in range(2)] == [409, 409]
    assert waiting.states() == [("failed", "deadline_exceeded")]
    assert waiting.tokens == ["token"]


def test_a_heartbeat_puts_the_end_off(start: Starter) -> None:
    waiting = start({}, settings={"timeoutSeconds": 3600, "heartbeatSeconds": 60})
    assert waiting.progress["wait_seconds"] == 600  # a run looks again every ten minutes at most
    waiting.age(50)
    beat = waiting.answer(heartbeat=True)
    assert beat.status == 200
    assert beat.json["heartbeatBy"] < beat.json["answerBy"]
    left = waiting.platform.grade(waiting.progress)
    assert (left["waiting"], left["wait_seconds"]) == (1, 600)
    assert waiting.answer().status == 200


def test_a_grader_that_falls_silent_after_a_heartbeat_is_timed_out(start: Starter) -> None:
    waiting = start({}, settings={"timeoutSeconds": 3600, "heartbeatSeconds": 60})
    assert waiting.answer(heartbeat=True).status == 200
    waiting.age(61)
    assert waiting.platform.grade(waiting.progress)["waiting"] == 0
    assert waiting.states() == [("failed", "callback_timeout")]


def test_a_heartbeat_that_does_not_come_in_time_is_a_time_out(start: Starter) -> None:
    waiting = start({}, settings={"timeoutSeconds": 3600, "heartbeatSeconds": 60})
    waiting.age(61)
    beat = waiting.answer(heartbeat=True)
    assert (beat.status, beat.json["code"]) == (409, "conflict")
    assert waiting.states() == [("failed", "callback_timeout")]
    assert waiting.tokens == ["token"]


def test_a_heartbeat_that_nobody_asked_for_is_welcome(start: Starter) -> None:
    waiting = start({})
    beat = waiting.answer(heartbeat=True)
    assert (beat.status, beat.json["heartbeatBy"]) == (200, None)


def test_a_heartbeat_is_checked_like_an_answer(start: Starter) -> None:
    waiting = start({})
    assert waiting.answer(heartbeat=True, secret="wrong").status == 404
    other = waiting.answer(heartbeat=True, answer={"requestId": "req_other"})
    assert (other.status, list(other.fields)) == (422, ["requestId"])
    waiting.answer()
    assert waiting.answer(heartbeat=True).status == 409


def test_reasoning_is_kept_only_with_its_owners_leave(start: Starter) -> None:
    waiting = start({})
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    said["score"]["reasoning"] = "SECRET"
    assert waiting.answer(answer=said).status == 200
    stored = boto3.client("dynamodb").scan(TableName="completions")["Items"]
    assert "SECRET" not in json.dumps(stored, default=str)


def test_an_opinion_on_what_is_canceled_meanwhile_keeps_no_reasons_and_asks_for_no_more(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function of callbacks may not query: a refusal would leave the answer unapplied."""
    waiting = start({}, {}, review={"sampledShare": 1})
    grader = f"/api/v1/graders/{waiting.grader_id}"
    assert waiting.platform.call("PATCH", grader, {"shareReasoning": True}).status == 200
    first, second = waiting.progress["waiting_ids"]
    path, asked = waiting.grader.requests[-1]
    said = waiting.grader.scores(path, asked["requestId"], asked)
    for one in said["scores"]:
        one["score"]["reasoning"] = f"SECRET {one['completionId']}"
    write, seen = VerdictWriter.write, Killer()

    def meanwhile(self: VerdictWriter, *arguments: Any, **options: Any) -> None:
        before = list(seen.called)
        waiting.platform.call("POST", f"/api/v1/completions/{first}/cancel")
        seen.called[:] = before  # what another function asked for
        write(self, *arguments, **options)

    monkeypatch.setattr(VerdictWriter, "write", meanwhile)
    assert waiting.answer(answer=said).status == 200
    granted = {action.partition(":")[2] for action, _, _ in EXPECTED["CallbacksApi"]}
    assert set(seen.called) <= granted
    stored = json.dumps(boto3.client("dynamodb").scan(TableName="completions"), default=str)
    assert f"SECRET {first}" not in stored
    assert f"SECRET {second}" in stored  # it may become the verdict's


def test_other_methods_and_paths_are_told_from_calls_by_nobodys_key(platform: Platform) -> None:
    call_id = "call_" + "0" * 26
    path = f"/api/v1/callbacks/{call_id}"
    wrong = platform.call_back(path, b"", {}, method="GET")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    unknown = platform.call_back(f"{path}/else", b"", {})
    assert unknown.status == 404
    assert call_id not in wrong.text + unknown.text


def test_settings_are_told_kept_and_checked(platform: Platform, grader: LoopbackGrader) -> None:
    body = {"name": "slow", "endpoint": grader.url}
    registered = platform.call("POST", "/api/v1/graders", body).json["grader"]
    assert registered["asyncSettings"] == {"timeoutSeconds": 86_400, "heartbeatSeconds": None}
    path = f"/api/v1/graders/{registered['id']}"
    settings = {"timeoutSeconds": 60, "heartbeatSeconds": 90}
    updated = platform.call("PATCH", path, {"asyncSettings": settings}).json["grader"]
    assert updated["asyncSettings"] == settings
    assert platform.call("GET", path).json["grader"]["asyncSettings"] == settings
    for field, value in [("timeoutSeconds", 59), ("heartbeatSeconds", 86_401), ("other", 1)]:
        refused = platform.call("PATCH", path, {"asyncSettings": {field: value}})
        assert refused.status == 422
        assert any("asyncSettings" in name for name in refused.fields)


def test_verdicts_that_were_stored_and_not_listed_are_listed_by_the_run(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = start({}, {})

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(DecisionLists, "write", die)
        with suppress(Killed):
            assert waiting.answer().status == 500
    callbacks_api.parts.cache_clear()
    assert waiting.states() == [("scored", None)] * 2
    waiting.platform.project()
    assert checkpoints() == {}
    assert waiting.platform.grade(waiting.progress)["remaining"] == 0
    waiting.platform.project()
    assert checkpoints() == {waiting.batch_id: {"scored": {0, 1}}}
