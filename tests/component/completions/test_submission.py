"""A 2xx means durable, and the same however often it is repeated."""

import json

import boto3
import pytest

from autotune.protocol.ids import new_id
from tests.support.graders import LoopbackGrader
from tests.support.health import falls_ill
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"avgLatencyMs": 250}))


def everything_stored() -> list[dict]:
    return boto3.client("dynamodb").scan(TableName="completions")["Items"]


def single(task_id: str, **fields: object) -> dict:
    return {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r", **fields}


def test_a_completion_is_stored_as_it_was_sent(platform: Platform, task_id: str) -> None:
    sent = single(
        task_id,
        prompt="Ünïcode ☃ \u0000 'quotes' \"double\" \\",
        response="x" * 10_000,
        metadata={"deep": [1.5, None, True, {"k": "v"}], "big": 2**70, "small": 1e-320},
    )
    accepted = platform.call("POST", "/api/v1/completions", {**sent, "priority": "high"})
    assert accepted.status == 202
    completion = accepted.json["completion"]
    assert completion.items() >= sent.items()
    assert accepted.json["estimatedScoreTimeMs"] == 750
    read = platform.call("GET", f"/api/v1/completions/{completion['id']}").json["completion"]
    assert read == completion


def test_what_outgrows_an_item_is_kept_without_the_caller_knowing(
    platform: Platform, task_id: str
) -> None:
    noise = "".join(chr(33 + (n * 7919 + n // 93 * 31) % 93) for n in range(2_000_000))
    text = "".join(format(hash((n, noise[n])) & 0xFFFFFF, "06x") for n in range(300_000))
    accepted = platform.call("POST", "/api/v1/completions", single(task_id, response=text))
    assert accepted.status == 202
    completion_id = accepted.json["completion"]["id"]
    read = platform.call("GET", f"/api/v1/completions/{completion_id}").json["completion"]
    assert read["response"] == text
    assert boto3.client("s3").list_objects_v2(Bucket="content")["KeyCount"] == 1
    assert platform.call("DELETE", f"/api/v1/completions/{completion_id}").status == 204
    assert boto3.client("s3").list_objects_v2(Bucket="content")["KeyCount"] == 0


def test_an_idempotency_key_returns_the_first_answer(platform: Platform, task_id: str) -> None:
    body = {"completions": [single(task_id, prompt=str(n)) for n in range(30)]}
    headers = {"idempotency-key": "epoch-1/step-7"}
    first = platform.call("POST", "/api/v1/completions/batch", body, headers=headers)
    stored = everything_stored()
    queued = platform.queued()
    again = platform.call("POST", "/api/v1/completions/batch", body, headers=headers)

    assert again.status == 202
    assert again.json == first.json
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert everything_stored() == stored
    assert len(queued) == 1
    assert platform.queued() == []


def test_an_idempotency_key_for_another_body_is_refused(platform: Platform, task_id: str) -> None:
    headers = {"idempotency-key": "k"}
    platform.call("POST", "/api/v1/completions", single(task_id), headers=headers)
    other = single(task_id, response="different")
    answer = platform.call("POST", "/api/v1/completions", other, headers=headers)
    assert (answer.status, answer.json["code"]) == (422, "idempotency_key_reused")


def test_idempotency_keys_of_two_organisations_never_meet(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    first = platform.submit(task_id, {}, headers={"idempotency-key": "k"}).json
    platform.api_key = platform.new_organization("second")
    second_task = platform.new_task(platform.new_grader(grader))
    second = platform.submit(second_task, {}, headers={"idempotency-key": "k"}).json
    assert not set(first["completionIds"]) & set(second["completionIds"])


@pytest.mark.parametrize("key", ["", "x" * 201, "with space", "ünïcode"])
def test_a_malformed_idempotency_key_is_named(platform: Platform, task_id: str, key: str) -> None:
    headers = {"idempotency-key": key}
    answer = platform.call("POST", "/api/v1/completions", single(task_id), headers=headers)
    assert answer.status == 422
    assert "idempotency-key" in answer.fields


def test_a_submission_that_broke_half_way_is_finished_by_its_repetition(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.completions.queues import ChunkQueues
    from autotune_platform.runtime.errors import UnavailableError

    def refuse(*_: object) -> None:
        raise UnavailableError("the queue is busy", retry_after_seconds=1)

    with monkeypatch.context() as broken:
        broken.setattr(ChunkQueues, "send", refuse)
        failed = platform.submit(task_id, {}, {}, headers={"idempotency-key": "k"})
    assert (failed.status, failed.headers["retry-after"]) == (503, "1")
    assert platform.queued() == []

    accepted = platform.submit(task_id, {}, {}, headers={"idempotency-key": "k"})
    assert accepted.status == 202
    platform.score_everything()
    assert platform.batch(accepted.json["batchId"])["counts"]["scored"] == 2
    assert len(grader.asked_ids) == 2


def test_a_submission_that_is_queued_twice_is_scored_once(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.completions.repository import CompletionRepository
    from autotune_platform.runtime.errors import UnavailableError

    with monkeypatch.context() as broken:

        def lose_the_end(*_: object, **__: object) -> None:
            raise UnavailableError("the table is busy", retry_after_seconds=1)

        broken.setattr(CompletionRepository, "mark_accepted", lose_the_end)
        lost = platform.submit(task_id, {}, {}, headers={"idempotency-key": "k"})
    assert lost.status == 503
    early = platform.submit(task_id, {}, {}, headers={"idempotency-key": "k"})
    assert (early.status, early.json["code"]) == (503, "unavailable")
    assert 25 < int(early.headers["retry-after"]) <= 30

    monkeypatch.setattr("autotune_platform.completions.submission._LONGEST_ATTEMPT_SECONDS", 0)
    accepted = platform.submit(task_id, {}, {}, headers={"idempotency-key": "k"})
    assert accepted.status == 202
    records = platform.queued()
    assert len(records) == 2
    assert platform.dispatch(records) == []
    platform.score_everything()
    assert platform.batch(accepted.json["batchId"])["counts"]["scored"] == 2
    assert sorted(grader.asked_ids) == sorted(accepted.json["completionIds"])


def test_two_attempts_at_one_submission_never_work_at_the_same_time(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.completions.queues import ChunkQueues

    send = ChunkQueues.send
    seen: list[int] = []

    def overtaken(self: ChunkQueues, *arguments: object) -> None:
        headers = {"idempotency-key": "k"}
        seen.append(platform.submit(task_id, {}, headers=headers).status)
        send(self, *arguments)

    monkeypatch.setattr(ChunkQueues, "send", overtaken)
    assert platform.submit(task_id, {}, headers={"idempotency-key": "k"}).status == 202
    assert seen == [503]


def test_equal_completions_of_one_batch_stay_distinct(platform: Platform, task_id: str) -> None:
    ids = platform.submit(task_id, {}, {}, {}).json["completionIds"]
    assert len(set(ids)) == 3


def test_an_unknown_task_is_named_and_nothing_is_stored(platform: Platform, task_id: str) -> None:
    body = {"completions": [single(task_id), single(new_id("task")), single(task_id)]}
    answer = platform.call("POST", "/api/v1/completions/batch", body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert answer.fields == {"completions[1].taskId": "a task of this organisation"}
    alone = platform.call("POST", "/api/v1/completions", single(new_id("task")))
    assert set(alone.fields) == {"taskId"}
    assert everything_stored() == []


def test_another_organisations_task_is_as_unknown_as_any(platform: Platform, task_id: str) -> None:
    other = platform.new_organization("second")
    foreign = platform.call("POST", "/api/v1/completions", single(task_id), api_key=other)
    unknown = platform.call("POST", "/api/v1/completions", single(new_id("task")), api_key=other)
    assert {**foreign.json, "requestId": ""} == {**unknown.json, "requestId": ""}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"completions"}),
        ({"completions": []}, {"completions"}),
        (
            {"completions": [{}]},
            {f"completions[0].{f}" for f in ("taskId", "modelId", "prompt", "response")},
        ),
        ({"completions": [7]}, {"completions[0]"}),
        ({"completions": [single(new_id("task"), score=1)]}, {"completions[0].score"}),
        ({"completions": [single(new_id("task"), prompt=None)]}, {"completions[0].prompt"}),
        ({"completions": [single(new_id("task"))], "priority": "urgent"}, {"priority"}),
        ({"completions": [single("t")]}, {"completions[0].taskId"}),
        ({"completions": [single(new_id("task"))] * 501}, {"completions"}),
    ],
)
def test_missing_and_wrong_fields_are_named(
    platform: Platform, body: dict, fields: set[str]
) -> None:
    answer = platform.call("POST", "/api/v1/completions/batch", body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert set(answer.fields) == fields


def test_a_priority_has_a_queue_of_its_own(platform: Platform, task_id: str) -> None:
    for priority in ("low", "normal", "high"):
        platform.call("POST", "/api/v1/completions", single(task_id, priority=priority))
    assert [len(platform.queued(queue)) for queue in ("low", "normal", "high")] == [1, 1, 1]


def test_queue_and_runs_carry_ids_and_no_text(platform: Platform, task_id: str) -> None:
    platform.submit(
        task_id, {"prompt": "PRIVATE", "response": "PRIVATE", "metadata": {"a": "PRIVATE"}}
    )
    records = platform.queued()
    assert "PRIVATE" not in json.dumps(records)
    platform.dispatch(records)
    assert "PRIVATE" not in json.dumps(platform.runs())


def test_small_chunks_of_one_grader_share_a_run_and_redelivery_starts_none(
    platform: Platform, task_id: str
) -> None:
    for _ in range(5):
        platform.submit(task_id, {})
    records = platform.queued()
    assert platform.dispatch(records) == []
    assert [len(run["completion_ids"]) for run in platform.runs()] == [5]
    assert platform.dispatch(list(reversed(records))) == []
    assert len(platform.runs()) == 1


def test_large_texts_do_not_share_a_run(platform: Platform, task_id: str) -> None:
    for _ in range(3):
        platform.submit(task_id, {"response": "x" * 3_000_000})
    platform.dispatch(platform.queued())
    assert sorted(len(run["completion_ids"]) for run in platform.runs()) == [1, 2]


def test_large_batches_are_cut_into_runs_of_a_hundred(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, *({} for _ in range(250)))
    platform.dispatch(platform.queued())
    assert sorted(len(run["completion_ids"]) for run in platform.runs()) == [50, 100, 100]


def test_an_unreadable_message_holds_up_no_other(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, {})
    (good,) = platform.queued()
    assert platform.dispatch([{**good, "messageId": "bad", "body": "{"}, good]) == ["bad"]
    assert len(platform.runs()) == 1


def test_a_grader_owner_submits_nothing(platform: Platform, task_id: str) -> None:
    key = platform.new_key("grader_owner")
    answer = platform.call("POST", "/api/v1/completions", single(task_id), api_key=key)
    assert (answer.status, answer.json["code"]) == (403, "forbidden")


def test_an_unreadable_chunk_is_logged_without_what_is_in_it(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.scoring import dispatch

    logged: list[str] = []
    monkeypatch.setattr(
        dispatch.logger, "warning", lambda *told, **fields: logged.append(repr((told, fields)))
    )
    body = '{"completion_ids": "PRIVATE", "text_bytes": "PRIVATE"}'
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="normal")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=body)
    (record,) = platform.queued()
    assert platform.dispatch([record]) == [record["messageId"]]
    assert len(logged) == 1
    assert "completion_ids" in logged[0]
    assert "PRIVATE" not in logged[0]


def test_who_submits_to_a_grader_that_is_not_well_is_warned(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    assert platform.submit(task_id, {}).json["warnings"] == []
    falls_ill(grader)
    seen = []
    for _ in range(6):
        platform.probe_graders()
        warnings = platform.submit(task_id, {}, {}).json["warnings"]
        seen += [one["code"] for one in warnings] or [None]
    assert seen == [None, *["grader_degraded"] * 4, "grader_inactive"]
    alone = {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r"}
    for _ in range(2):
        answer = platform.call(
            "POST", "/api/v1/completions", alone, headers={"Idempotency-Key": "once"}
        )
        assert answer.status == 202
        (warning,) = answer.json["warnings"]
        assert (warning["code"], warning["graderId"]) == ("grader_inactive", grader_id)
        assert "deadline" in warning["detail"]
