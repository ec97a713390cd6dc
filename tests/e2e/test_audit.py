"""Calls and decisions are in the audit log of the running stack, and days that are over in S3."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import httpx
import pytest

from autotune import AuditedCall, AuditedDecision, AutotuneClient, PermissionDeniedError
from autotune.protocol.audit import AuditEntry
from autotune.protocol.ids import new_id
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until, verified
from tests.support.graders import loopback_grader


def test_calls_and_decisions_are_listed_and_hold_no_text(
    client: AutotuneClient, profile: LocalProfile, command_line: CommandLine
) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    with loopback_grader() as grader:
        grader_id = verified(client, grader)
        task = client.tasks.create(name="planted-name", grader_id=grader_id)
        for number in range(3):
            submitted = client.completions.submit(
                task_id=task.id,
                model_id="planted-model",
                prompt=f"planted-prompt-{number}",
                response="planted-response",
            )
            client.completions.wait_for_score(submitted.completion.id, timeout=60)
    reviewer = client.keys.create(name="r", role="reviewer")
    with (
        AutotuneClient(base_url=profile.base_url, api_key=reviewer.api_key) as other,
        pytest.raises(PermissionDeniedError),
    ):
        list(other.audit.list())
    assert httpx.get(f"{profile.base_url}/api/v1/audit").status_code == 401

    def decided_of(entries: list[AuditEntry]) -> list[str]:
        return [
            completion_id
            for entry in entries
            if isinstance(entry, AuditedDecision) and entry.grader_id == grader_id
            for some in entry.verdicts
            for completion_id in some.completion_ids
        ]

    def recorded() -> list[AuditEntry]:
        entries = list(client.audit.list(since=began))
        return entries if len(decided_of(entries)) >= 3 else []

    entries = until(recorded, seconds=60, pause=0.5)
    decided = decided_of(entries)
    assert len(decided) == len(set(decided)) == 3
    calls = [entry for entry in entries if isinstance(entry, AuditedCall)]
    assert {"create_task", "verify_grader", "submit_completion"} <= {one.action for one in calls}
    (refused,) = [one for one in calls if one.key_id == reviewer.key.id]
    assert (refused.action, refused.status, refused.code) == (
        "list_audit_entries",
        403,
        "forbidden",
    )
    assert "planted" not in json.dumps([one.model_dump(mode="json") for one in entries])
    assert "submit_completion" in command_line.run("audit").stdout


@pytest.fixture
def session() -> boto3.Session:
    return boto3.Session("test", "test", region_name=REGION)


def test_a_day_that_is_over_is_copied_to_s3(
    client: AutotuneClient, profile: LocalProfile, session: boto3.Session
) -> None:
    organization_id = client.keys.me().organization_id
    day = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
    entry = {"id": new_id("aud"), "kind": "call", "action": "read_task"}
    endpoint: dict[str, Any] = {"endpoint_url": profile.aws_endpoint_url}
    (table,) = [
        name
        for name in session.client("dynamodb", **endpoint).list_tables()["TableNames"]
        if "Audit" in name
    ]
    session.resource("dynamodb", **endpoint).Table(table).put_item(
        Item={
            "pk": f"{organization_id}#{day}",
            "sk": f"{day}T12:00:00#{entry['id']}",
            "entry": json.dumps(entry),
        }
    )
    functions = session.client("lambda", **endpoint)
    (export,) = [
        one["FunctionName"]
        for page in functions.get_paginator("list_functions").paginate()
        for one in page["Functions"]
        if "ExportAudit" in one["FunctionName"]
    ]
    for _ in range(2):
        answer = functions.invoke(FunctionName=export, Payload=json.dumps({"day": day}))
        assert "FunctionError" not in answer, answer["Payload"].read()
    s3 = session.client("s3", **endpoint)
    (bucket,) = [
        one["Name"] for one in s3.list_buckets()["Buckets"] if "audit" in one["Name"].lower()
    ]
    key = f"audit/organization={organization_id}/day={day}/part-00000.jsonl.gz"
    body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    (line,) = gzip.decompress(body).splitlines()
    assert json.loads(line) == {"organizationId": organization_id, **entry}
