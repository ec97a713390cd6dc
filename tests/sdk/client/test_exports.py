import asyncio
import json
from datetime import UTC, datetime

import pytest

from autotune import (
    AsyncAutotuneClient,
    ExportManifest,
    ExportNotReadyError,
    InvalidInputError,
    InvalidRequestError,
    NotFoundError,
    RequestTooLargeError,
    WaitTimeoutError,
)
from autotune.protocol.exports import PreferenceOptions
from tests.support.http_faults import Fault


@pytest.fixture
def scored(api, client, monkeypatch):
    """Return a task with 20 verdicts, of which two are no scores; parts hold six records."""
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 6)
    task_id = api.new_task()
    outcomes = {7: "failed", 8: "abstained"}
    list(
        client.completions.submit_many(
            {
                "taskId": task_id,
                "modelId": "m",
                "prompt": f"p{n}",
                "response": "r",
                "metadata": {"value": n / 19, "outcome": outcomes.get(n, "scored")},
            }
            for n in range(20)
        )
    )
    return task_id


def test_an_export_is_created_waited_for_listed_and_deleted(api, client, scored, no_waiting):
    created = client.exports.create(format="jsonl", task_id=scored, min_score=0.5)
    assert (created.state, created.downloads) == ("pending", None)
    assert created.request.filters.task_id == scored
    seen = []
    ended = client.exports.wait_for(created.id, on_progress=seen.append)
    assert ended.state == "completed"
    assert seen[-1] == ended
    assert ended.progress.records_written == 10
    assert [part.records for part in ended.downloads.parts] == [6, 4]
    other = client.exports.create(format="parquet", shape="unpaired", unpaired={"threshold": 0.7})
    assert [one.id for one in client.exports.list(page_size=1)] == [created.id, other.id]
    client.exports.delete(created.id)
    deleted = client.exports.wait_for(created.id)
    assert (deleted.state, deleted.downloads) == ("canceled", None)
    with pytest.raises(NotFoundError):
        client.exports.delete("exp_" + "0" * 26)


def test_options_and_filters_go_out_as_the_api_names_them(api, client):
    task_id = api.new_task()
    client.exports.create(
        format="tfrecord",
        shape="preference",
        task_id=task_id,
        model_id="m",
        grader_id="grd_" + "0" * 26,
        min_score=0,
        max_score=0.9,
        start_date=datetime(2026, 11, 1, tzinfo=UTC),
        end_date=datetime(2026, 11, 21, 12, tzinfo=UTC),
        preference=PreferenceOptions(min_score_delta=0.25, sample_size=10, seed=7),
    )
    assert json.loads(api.received[-1].body) == {
        "format": "tfrecord",
        "shape": "preference",
        "filters": {
            "taskId": task_id,
            "modelId": "m",
            "graderId": "grd_" + "0" * 26,
            "minScore": 0,
            "maxScore": 0.9,
            "startDate": "2026-11-01T00:00:00Z",
            "endDate": "2026-11-21T12:00:00Z",
        },
        "preference": {"minScoreDelta": 0.25, "sampleSize": 10, "seed": 7},
    }


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"format": "csv"}, "format"),
        ({"format": "jsonl", "shape": "pairs"}, "shape"),
        ({"format": "jsonl", "min_score": 1.5}, "min_score"),
        ({"format": "jsonl", "min_score": 0.5, "max_score": 0.4}, "max_score"),
        ({"format": "jsonl", "task_id": "task_1"}, "task_id"),
        ({"format": "jsonl", "preference": {"seed": 1}}, "preference"),
        (
            {"format": "jsonl", "shape": "preference", "preference": {"min_score_delta": 0}},
            "min_score_delta",
        ),
        ({"format": "jsonl", "shape": "preference", "preference": {"size": 1}}, "size"),
        ({"format": "jsonl", "shape": "stepwise", "stepwise": {"separator": ""}}, "separator"),
        ({"format": "jsonl", "idempotency_key": "two words"}, "idempotency_key"),
    ],
)
def test_what_cannot_be_exported_is_named_and_nothing_is_sent(api, client, arguments, named):
    with pytest.raises(InvalidInputError, match=named):
        client.exports.create(**arguments)
    assert api.received == []


def test_an_export_is_made_once_whatever_is_lost_on_the_way(api, client, no_waiting):
    api.misbehave(Fault(where="POST", drop_after=True), Fault(where="POST", status=503))
    created = client.exports.create(format="jsonl")
    assert [one.id for one in client.exports.list()] == [created.id]
    named = client.exports.create(format="jsonl", idempotency_key="nightly")
    assert client.exports.create(format="jsonl", idempotency_key="nightly").id == named.id
    with pytest.raises(InvalidRequestError, match="another body"):
        client.exports.create(format="parquet", idempotency_key="nightly")


def test_waiting_ends_with_its_time_and_with_a_failure(api, client, no_waiting, monkeypatch):
    api.export_seconds = 60
    slow = client.exports.create(format="jsonl")
    with pytest.raises(WaitTimeoutError, match=f"{slow.id} was still running after 0 s"):
        client.exports.wait_for(slow.id, timeout=0)
    assert client.exports.get(slow.id).state == "running"
    api.export_seconds = 0
    monkeypatch.setattr("autotune_platform.exports.pairing.MAX_EXPORT_PAIRS", 0)
    task_id = api.new_task()
    for value in (0.25, 0.75):
        client.completions.submit(
            task_id=task_id,
            model_id="m",
            prompt="p",
            response=str(value),
            metadata={"value": value},
        )
    failing = client.exports.create(format="jsonl", shape="preference", task_id=task_id)
    failed = client.exports.wait_for(failing.id)
    assert (failed.state, failed.error_code) == ("failed", "too_large")
    with pytest.raises(NotFoundError):
        client.exports.wait_for("exp_" + "0" * 26)


def test_an_export_that_is_not_completed_has_nothing_to_download(api, client, tmp_path):
    api.export_seconds = 60
    export = client.exports.create(format="jsonl")
    with pytest.raises(ExportNotReadyError, match="is running, not completed") as caught:
        client.exports.download(export.id, tmp_path / "out")
    assert (caught.value.export_id, caught.value.state) == (export.id, "running")
    assert not (tmp_path / "out").exists()


def test_pairs_are_downloaded_and_deleting_twice_is_fine(api, client, tmp_path):
    task_id = api.new_task()
    judged = [{"response": str(n), "metadata": {"value": n}} for n in (0, 1)]
    api.platform.submit(task_id, *judged, {"metadata": {"outcome": "failed"}})
    api.platform.score()
    options = {"shape": "preference", "preference": {"min_score_delta": 0.5}}
    export = client.exports.create(format="jsonl", task_id=task_id, **options)
    there = client.exports.download(client.exports.wait_for(export.id).id, tmp_path)
    manifest = ExportManifest.model_validate_json(there.manifest.read_bytes())
    assert (manifest.total_records, len(there.parts)) == (1, 1)
    for _ in range(2):
        client.exports.delete(export.id)
    with pytest.raises(ExportNotReadyError) as caught:
        client.exports.download(export.id, tmp_path / "nothing left")
    assert caught.value.state == "canceled"


def test_a_small_export_comes_at_once(api, client, scored):
    content = client.scores.export(format="jsonl", task_id=scored, min_score=0.9)
    records = [json.loads(line) for line in content.decode().splitlines()]
    assert len(records) == 2
    assert min(record["score"] for record in records) >= 0.9
    with pytest.raises(InvalidInputError, match="max_score"):
        client.scores.export(format="jsonl", min_score=0.5, max_score=0.1)
    api.misbehave(Fault(where="export", status=413, code="request_too_large"))
    with pytest.raises(RequestTooLargeError):
        client.scores.export(format="jsonl")


def test_the_asynchronous_client_does_the_same(api, scored, tmp_path):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            created = await client.exports.create(format="jsonl", task_id=scored)
            assert [one.id async for one in client.exports.list()] == [created.id]
            ended = await client.exports.wait_for(created.id, timeout=10)
            progress = []
            there = await client.exports.download(
                ended.id, tmp_path / "out", on_progress=progress.append
            )
            assert [part.name for part in there.parts] == [
                f"part-{n:05}.jsonl.gz" for n in (1, 2, 3)
            ]
            assert (progress[-1].files_done, progress[-1].bytes_done) == (4, progress[-1].bytes)
            assert len(await client.scores.export(format="jsonl", task_id=scored)) > 1_000
            await client.exports.delete(created.id)

    asyncio.run(use())
    assert sorted(path.name for path in (tmp_path / "out").iterdir())[0] == "manifest.json"
