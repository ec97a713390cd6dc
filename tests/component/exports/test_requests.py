"""Exports are created, read, listed and deleted; invalid requests are refused by field."""

import gzip
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_OPEN_EXPORTS
from autotune_platform.access.models import PERMISSIONS
from autotune_platform.runtime import clients
from autotune_platform.storage.registry import RECORD
from autotune_platform.storage.table import Page, Table
from tests.component.access.prepared import large_text
from tests.support.exports import (
    ExportedTask,
    Finished,
    Scored,
    export,
    finish,
    read,
    start,
    stored_keys,
)
from tests.support.platform import Platform

PATH = "/api/v1/exports"


def ask(platform: Platform, key: str | None = None, **body: Any) -> Any:
    headers = {"idempotency-key": key} if key else {}
    return platform.call("POST", PATH, {"format": "jsonl", **body}, headers=headers)


def test_an_export_is_started_once_and_can_be_read_meanwhile(
    platform: Platform, task: ExportedTask
) -> None:
    task.add(Scored())
    answer = ask(platform, shape="unpaired")
    assert answer.status == 202
    made = answer.json["export"]
    assert made["state"] == "pending"
    assert made["request"]["shape"] == "unpaired"
    assert made["request"]["unpaired"] == {"threshold": 0.5}
    assert platform.exports_started() == [{"export_id": made["id"], "redrive": 0}]
    assert read(platform, made["id"])["state"] == "pending"
    finish(platform, made["id"])
    done = read(platform, made["id"])
    assert done["state"] == "completed"
    assert done["progress"] == {"recordsWritten": 1, "scanned": 1, "parts": 1}
    kept = datetime.fromisoformat(done["expiresAt"]) - datetime.fromisoformat(done["createdAt"])
    assert kept == timedelta(days=7)


def test_an_idempotency_key_starts_one_export(platform: Platform, task: ExportedTask) -> None:
    first = ask(platform, "k")
    again = ask(platform, "k")
    assert again.json["export"]["id"] == first.json["export"]["id"]
    assert again.headers["idempotent-replayed"] == "true"
    assert len(platform.exports_started()) == 1
    other = ask(platform, "k", shape="stepwise")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_an_idempotency_key_is_free_again_when_its_export_has_expired(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    task.add(Scored(), Scored(response="s"))
    with monkeypatch.context() as short:
        short.setattr("autotune_platform.exports.formats.MOST_RECORDS", 1)
        first = ask(platform, "k").json["export"]["id"]
        finish(platform, first)
    long_ago = {"created_at": "2026-01-01T00:00:00Z"}
    assert Table("registry", clients.dynamodb()).update(first, RECORD, long_ago)
    assert platform.call("GET", f"{PATH}/{first}").status == 404
    assert platform.call("GET", PATH).json["exports"] == []
    second = ask(platform, "k", shape="unpaired")
    assert second.status == 202
    made = second.json["export"]["id"]
    assert made != first
    assert len(platform.exports_started()) == 2
    finish(platform, made)
    assert [part["records"] for part in read(platform, made)["downloads"]["parts"]] == [2]
    assert ask(platform, "k", shape="unpaired").json["export"]["id"] == made


def test_an_organisation_has_a_limit_of_open_exports(
    platform: Platform, task: ExportedTask
) -> None:
    keys = [f"k{n}" for n in range(MAX_OPEN_EXPORTS)]
    ids = [ask(platform, key).json["export"]["id"] for key in keys]
    refused = ask(platform)
    assert (refused.status, refused.json["code"]) == (429, "too_many_exports")
    assert refused.json["limit"] == {"name": "open exports", "maximum": 5, "unit": "exports"}
    assert refused.headers["retry-after"] == "300"
    assert len(platform.exports_started()) == len(platform.call("GET", PATH).json["exports"]) == 5
    assert ask(platform, "k0").json["export"]["id"] == ids[0]
    finish(platform, ids[1])
    assert platform.call("DELETE", f"{PATH}/{ids[2]}").status == 204
    assert [ask(platform).status for _ in range(3)] == [202, 202, 429]


def test_a_slot_that_is_taken_meanwhile_is_not_given_twice(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look for a slot finds all of them free, as two at the same moment do."""
    query = Table.query

    def before_the_others(self: Table, partition: str, **named: Any) -> Page:
        is_of_slots = partition.startswith("exp_open#")
        return Page([], None, 0) if is_of_slots else query(self, partition, **named)

    monkeypatch.setattr(Table, "query", before_the_others)
    statuses = [ask(platform).status for _ in range(MAX_OPEN_EXPORTS + 1)]
    assert statuses == [202] * MAX_OPEN_EXPORTS + [429]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"format": "csv"}, "format"),
        ({"shape": "pairs"}, "shape"),
        ({"shape": "scores", "preference": {}}, "preference"),
        ({"shape": "preference", "unpaired": {}}, "unpaired"),
        ({"shape": "preference", "preference": {"minScoreDelta": 0}}, "preference.minScoreDelta"),
        ({"shape": "preference", "preference": {"minScoreDelta": 1.1}}, "preference.minScoreDelta"),
        ({"shape": "preference", "preference": {"sampleSize": 0}}, "preference.sampleSize"),
        ({"shape": "preference", "preference": {"seed": -1}}, "preference.seed"),
        ({"shape": "preference", "preference": {"pairing": "best"}}, "preference.pairing"),
        ({"shape": "unpaired", "unpaired": {"threshold": "0.5"}}, "unpaired.threshold"),
        ({"shape": "stepwise", "stepwise": {"separator": ""}}, "stepwise.separator"),
        ({"filters": {"minScore": 0.5, "maxScore": 0.4}}, "filters.maxScore"),
        ({"filters": {"startDate": "2026-01-01"}}, "filters.startDate"),
        ({"filters": {"taskId": "t"}}, "filters.taskId"),
        ({"filters": {"taskId": new_id("task")}}, "filters.taskId"),
        ({"filters": {"state": "scored"}}, "filters.state"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(
    platform: Platform, body: dict[str, Any], field: str
) -> None:
    answer = ask(platform, **body)
    assert (answer.status, set(answer.fields)) == (422, {field}), answer.text
    assert platform.exports_started() == []


def test_filters_choose_the_verdicts(platform: Platform, task: ExportedTask) -> None:
    task.add(*(Scored(value=n / 10, model=f"m{n % 2}") for n in range(11)), Scored(state="failed"))
    filters = {"minScore": 0.3, "maxScore": 0.8, "modelId": "m0"}
    made = export(platform, filters=filters)
    assert sorted(record["score"] for record in made.records) == [0.4, 0.6, 0.8]
    assert made.manifest["counts"]["scanned"] == 3


def test_verdicts_of_all_tasks_are_exported_and_none_of_later_ones(
    platform: Platform, task: ExportedTask
) -> None:
    grader_id = platform.call("GET", "/api/v1/graders").json["graders"][0]["id"]
    second = ExportedTask(platform, platform.new_task(grader_id))
    task.add(Scored("one"))
    second.add(Scored("two"))
    assert platform.call("DELETE", f"/api/v1/tasks/{second.id}").status == 204
    export_id = start(platform)
    as_of = datetime.fromisoformat(read(platform, export_id)["asOf"])
    task.add(Scored("late", decided_at=as_of))
    finish(platform, export_id)
    made = Finished.of(read(platform, export_id))
    assert sorted(record["prompt"] for record in made.records) == ["one", "two"]
    assert made.manifest["taskIds"] == sorted([task.id, second.id])


def test_a_deleted_export_is_canceled_and_its_files_are_gone(
    platform: Platform, task: ExportedTask
) -> None:
    task.add(Scored())
    made = export(platform)
    path = f"{PATH}/{made.export['id']}"
    assert stored_keys()
    for _ in range(2):
        assert platform.call("DELETE", path).status == 204
    assert stored_keys() == set()
    left = platform.call("GET", path).json["export"]
    assert (left["state"], left.get("downloads")) == ("canceled", None)


def test_exports_are_listed_without_links(platform: Platform, task: ExportedTask) -> None:
    ids = [ask(platform, f"key{n}").json["export"]["id"] for n in range(3)]
    first = platform.call("GET", PATH, query={"limit": 2}).json
    rest = platform.call("GET", PATH, query={"limit": 2, "nextToken": first["nextToken"]}).json
    assert [one["id"] for one in first["exports"] + rest["exports"]] == ids
    assert not any("downloads" in one for one in first["exports"])


def test_links_are_signed_for_a_quarter_of_an_hour(platform: Platform, task: ExportedTask) -> None:
    task.add(Scored())
    made = export(platform)
    url = made.export["downloads"]["parts"][0]["url"]
    assert "X-Amz-Expires=900" in url
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in url
    assert "part-00001.jsonl.gz" in url


def test_who_may_export_may_read_scores_and_completions() -> None:
    for grants in PERMISSIONS.values():
        if ("exports", "create") in grants:
            assert grants["scores", "read"] == grants["completions", "read"] == "organization"


def test_more_parts_than_an_export_has_end_it(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 1)
    monkeypatch.setattr("autotune_platform.exports.segments.MAX_EXPORT_PARTS", 2)
    task.add(*(Scored(response=f"r{n}") for n in range(3)))
    export_id = start(platform)
    finish(platform, export_id)
    failed = read(platform, export_id)
    assert (failed["state"], failed["errorCode"]) == ("failed", "too_large")
    assert stored_keys() == set()
    assert platform.call("DELETE", f"{PATH}/{export_id}").status == 204
    deleted = read(platform, export_id)
    assert (deleted["state"], deleted.get("errorCode"), deleted.get("limit")) == (
        "canceled",
        None,
        None,
    )


def test_large_texts_are_read_from_the_bucket(platform: Platform, task: ExportedTask) -> None:
    task.add(Scored(response=large_text()))
    assert boto3.client("s3").list_objects_v2(Bucket="content")["KeyCount"] == 1
    (record,) = export(platform).records
    assert record["response"] == large_text()


def test_gzipped_lines_of_the_same_verdicts_are_the_same_bytes(
    platform: Platform, task: ExportedTask
) -> None:
    task.add(*(Scored(response=f"r{n}") for n in range(5)))
    first, second = export(platform), export(platform)
    assert first.parts == second.parts
    assert all(gzip.decompress(body) for body in first.parts.values())
