"""Each day that is over is copied to S3, once or again, and what failed is made good."""

import gzip
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from autotune_platform.audit.exporting import (
    AuditArchive,
    AuditExport,
    DayNotExportableError,
    ExportBehindError,
)
from autotune_platform.audit.repository import RETENTION
from autotune_platform.runtime.environment.audit import AuditExportEnvironment
from autotune_platform.wiring.audit import AuditExportParts
from tests.component.audit.test_listing import add
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform

# Long before the calls that prepare a test, which are entered at their own time.
TODAY = datetime(2025, 6, 21, 1, 30, tzinfo=UTC)
YESTERDAY = date(2025, 6, 20)


def export() -> AuditExport:
    return AuditExportParts(AuditExportEnvironment.parse()).audit_export


def catch_up(now: datetime = TODAY) -> int:
    return export().catch_up(now=now, has_time=lambda: True)


def objects() -> dict[str, bytes]:
    s3 = boto3.client("s3")
    found = s3.list_objects_v2(Bucket="audit").get("Contents", [])
    return {
        one["Key"]: s3.get_object(Bucket="audit", Key=one["Key"])["Body"].read() for one in found
    }


def lines(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(body).splitlines()]


@pytest.fixture
def organizations(platform: Platform) -> list[str]:
    second = platform.new_organization("second")
    return [platform.me()["organizationId"], platform.me(second)["organizationId"]]


def at(day: date, hour: int = 12) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


def test_yesterday_is_exported_for_each_organisation(organizations: list[str]) -> None:
    made = {whose: [add(whose, at(YESTERDAY, hour)) for hour in (0, 23)] for whose in organizations}
    add(organizations[0], at(YESTERDAY + timedelta(days=1), 0))
    assert catch_up() == 4
    stored = objects()
    assert set(stored) == {
        f"audit/organization={whose}/day=2025-06-20/part-00000.jsonl.gz" for whose in organizations
    }
    for whose, ids in made.items():
        (body,) = [body for key, body in stored.items() if whose in key]
        assert [(one["organizationId"], one["id"]) for one in lines(body)] == [
            (whose, id_) for id_ in ids
        ]
    assert catch_up() == 0


def test_a_day_is_not_exported_before_its_last_entry_can_be_there(
    organizations: list[str],
) -> None:
    add(organizations[0], at(YESTERDAY))
    assert catch_up(TODAY.replace(hour=0, minute=59)) == 0
    assert catch_up() == 1


def test_what_failed_for_days_is_made_good(
    organizations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(TODAY)
    for number in range(4):
        add(organizations[1], at(YESTERDAY + timedelta(days=number)))

    def refuse(*_: object) -> int:
        raise ClientError({"Error": {"Code": "InternalError"}}, "PutObject")

    later = TODAY + timedelta(days=3)
    with monkeypatch.context() as broken:
        broken.setattr(AuditArchive, "write", refuse)
        with pytest.raises(ClientError):
            catch_up(later)
    assert objects() == {}
    assert catch_up(later) == 3
    assert len(objects()) == 3


def test_a_run_without_time_goes_on_later_and_says_so_when_it_is_far_behind(
    organizations: list[str],
) -> None:
    catch_up(TODAY)
    for whose in organizations:
        add(whose, at(YESTERDAY + timedelta(days=1)))
    tomorrow = TODAY + timedelta(days=1)
    steps = iter([True, False])
    assert export().catch_up(now=tomorrow, has_time=lambda: next(steps)) == 1
    assert export().catch_up(now=tomorrow, has_time=lambda: True) == 1
    with pytest.raises(ExportBehindError, match="2025-06-22"):
        export().catch_up(now=TODAY + timedelta(days=5), has_time=lambda: False)


def test_a_day_exported_again_makes_the_same_objects(
    organizations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.audit.exporting._PART_BYTES", 1_000)
    for minute in range(10):
        add(organizations[0], at(YESTERDAY) + timedelta(minutes=minute))
    catch_up()
    first = objects()
    assert len(first) > 2
    assert sum(len(lines(body)) for body in first.values()) == 10
    assert export().export_again(YESTERDAY, now=TODAY) == 10
    assert objects() == first


@pytest.mark.parametrize("day", [YESTERDAY + timedelta(days=1), YESTERDAY - RETENTION])
def test_a_day_that_is_not_over_or_may_be_gone_is_refused(platform: Platform, day: date) -> None:
    with pytest.raises(DayNotExportableError, match="399 days ago"):
        export().export_again(day, now=TODAY)


def test_the_function_exports_what_is_due_or_a_day_again(platform: Platform) -> None:
    whose = platform.me()["organizationId"]
    day = datetime.now(UTC).date() - timedelta(days=3)  # before one o'clock, two days ago is due
    add(whose, at(day))
    function = handler("functions.audit.export_audit")
    assert function({}, LambdaContext(900)) == {"entries": 0}
    assert function({"day": day.isoformat()}, LambdaContext(900)) == {"entries": 1}


def test_an_entry_outlives_a_year_of_failed_exports(organizations: list[str]) -> None:
    add(organizations[0], at(YESTERDAY))
    items = boto3.resource("dynamodb").Table("audit").scan()["Items"]
    (item,) = [one for one in items if one["sk"].startswith("2025-06-20")]
    assert int(item["expires_at"]) == int((at(YESTERDAY) + timedelta(days=400)).timestamp())
