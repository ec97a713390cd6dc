"""Admins read their organisation's entries, the newest first."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune.protocol.audit import AuditedCall
from autotune.protocol.ids import new_id
from autotune_platform.audit.repository import DAY_SHARDS
from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.wiring.access import AuditParts
from tests.support.platform import Platform

PATH = "/api/v1/audit"


def add(organization_id: str, at: datetime, **fields: Any) -> str:
    usual = {
        "id": new_id("aud"),
        "time": at,
        "action": "read_task",
        "authenticated": True,
        "method": "GET",
        "status": 200,
        "principal_id": "p1",
        "request_id": new_id("req"),
        "source_address": "192.0.2.7",
        "duration_ms": 1,
    }
    entry = AuditedCall.model_validate({**usual, **fields})
    AuditParts(AuditEnvironment.parse()).audit_repository.add(organization_id, entry)
    return entry.id


def pages(platform: Platform, **query: Any) -> list[list[str]]:
    found = []
    while True:
        answer = platform.call("GET", PATH, query=query)
        assert answer.status == 200, answer.text
        found.append([entry["id"] for entry in answer.json["entries"]])
        if answer.json["nextToken"] is None:
            return found
        query["nextToken"] = answer.json["nextToken"]


def at(moment: datetime) -> str:
    return moment.isoformat()


def test_entries_of_several_days_come_in_pages_the_newest_first(platform: Platform) -> None:
    organization_id = platform.me()["organizationId"]
    end = datetime.now(UTC) - timedelta(days=3)
    made = [add(organization_id, end - timedelta(hours=7 * number)) for number in range(10)]
    add(new_id("org"), end)
    span = {"from": at(end - timedelta(days=5)), "to": at(end + timedelta(seconds=1))}
    found = pages(platform, limit=4, **span)
    assert [one for page in found for one in page] == made
    assert all(len(page) <= 4 for page in found)
    assert pages(platform, **{**span, "to": at(end)}) == [made[1:]]


def test_entries_are_found_by_principal_and_action_however_few_there_are(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.audit.listing._FILTERED_PAGE", 3)
    monkeypatch.setattr("autotune_platform.audit.listing._MOST_QUERIES", 2)
    organization_id = platform.me()["organizationId"]
    end = datetime.now(UTC) - timedelta(days=1)
    for number in range(20):
        add(organization_id, end - timedelta(minutes=number))
    rare = add(
        organization_id, end - timedelta(minutes=30), principal_id="p2", action="delete_task"
    )
    span = {"from": at(end - timedelta(days=1)), "to": at(end + timedelta(seconds=1))}
    for filtered in ({"principalId": "p2"}, {"action": "delete_task"}):
        found = pages(platform, **span, **filtered)
        assert [one for page in found for one in page] == [rare]
        assert len(found) > 2
    assert not any(pages(platform, **span, principalId="p2", action="read_task"))


def test_what_was_just_called_is_there(platform: Platform) -> None:
    platform.call("GET", "/api/v1/tasks")
    listed = platform.call("GET", PATH, query={"action": "list_tasks"}).json["entries"]
    assert [(one["kind"], one["status"]) for one in listed] == [("call", 200)]


def test_a_page_goes_on_to_where_the_first_one_was_to_end(platform: Platform) -> None:
    organization_id = platform.me()["organizationId"]
    end = datetime.now(UTC) - timedelta(minutes=1)
    made = [add(organization_id, end - timedelta(days=number), action="a") for number in range(4)]
    query = {"from": at(end - timedelta(days=2, seconds=1)), "action": "a", "limit": 2}
    first = platform.call("GET", PATH, query=query).json
    query = {"nextToken": first["nextToken"], "action": "a"}
    second = platform.call("GET", PATH, query=query).json
    listed = [entry["id"] for entry in [*first["entries"], *second["entries"]]]
    assert (listed, second["nextToken"]) == (made[:3], None)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2020-01-01T00:00:00Z"}, "from"),
        ({"from": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"to": "2020-01-01T00:00:00Z"}, "to"),
        ({"from": "9999-12-31T23:59:59-12:00"}, "to"),
        ({"from": "2026-01-01T00:00:00"}, "from"),
        ({"from": "yesterday"}, "from"),
        ({"action": "No Action"}, "action"),
        ({"limit": "201"}, "limit"),
        ({"nextToken": "x"}, "nextToken"),
        ({"nextToken": encode_cursor("9999-12-31", "", "2026-01-01T00:00:00Z")}, "nextToken"),
        ({"nextToken": encode_cursor("2026-01-01", "", "2026-01-01T00:00:00")}, "nextToken"),
        ({"nextToken": encode_cursor("2026-01-01", "", "9999-12-31T23:59:59-12:00")}, "nextToken"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    platform: Platform, query: dict[str, str], field: str
) -> None:
    answer = platform.call("GET", PATH, query=query)
    assert (answer.status, list(answer.fields)) == (422, [field]), answer.text


def test_a_busy_day_is_spread_over_partitions_and_read_in_one_order(platform: Platform) -> None:
    organization_id = platform.me()["organizationId"]
    end = datetime.now(UTC) - timedelta(days=1)
    end = end.replace(hour=12)
    made = [add(organization_id, end - timedelta(seconds=number)) for number in range(200)]
    stored = boto3.resource("dynamodb").Table("audit").scan()["Items"]
    day = f"{organization_id}#{end.date().isoformat()}"
    spread = Counter(item["pk"] for item in stored if item["pk"].startswith(day))
    assert len(spread) == DAY_SHARDS
    assert day in spread  # where a day's entries were before they were spread
    assert max(spread.values()) < len(made) / 4
    span = {"from": at(end - timedelta(hours=1)), "to": at(end + timedelta(seconds=1))}
    found = pages(platform, limit=70, **span)
    assert [len(page) for page in found] == [70, 70, 60]
    assert [one for page in found for one in page] == made
    repository = AuditParts(AuditEnvironment.parse()).audit_repository
    exported = [json.loads(one)["id"] for one in repository.of_day(organization_id, end.date())]
    assert exported == made[::-1]
