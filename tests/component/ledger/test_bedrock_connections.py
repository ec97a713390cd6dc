"""Connections to Bedrock: what is refused, by field, and what cannot be changed."""

from typing import Any

import pytest

from tests.support.bedrock import BUCKET, ROLE, settings
from tests.support.lambdas import forget_processes
from tests.support.platform import Platform

PATH = "/api/v1/llm-connections"


def body(bedrock: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    given = settings() if bedrock is None else bedrock
    return {"name": "aws", "provider": "bedrock", "bedrock": given, **fields}


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"region": "us-east-1.evil.example"}, "bedrock.region", "pattern"),
        ({"region": "cn-north-1"}, "bedrock.region", "pattern"),
        (
            {"roleArn": "arn:aws:iam::123456789012:role/admin"},
            "bedrock.roleArn",
            "autotune-bedrock",
        ),
        ({"roleArn": None}, "bedrock.roleArn", "required"),
        ({"batchRoleArn": "admin"}, "bedrock.batchRoleArn", "pattern"),
        ({"batchRoleArn": ROLE.replace("1234", "9999")}, "bedrock", "of the account of roleArn"),
        ({"batchRoleArn": None}, "bedrock", "belong together"),
        ({"bucket": "with.dots"}, "bedrock.bucket", "pattern"),
        ({"bucket": None}, "bedrock", "belong together"),
        ({"prefix": "../up/"}, "bedrock.prefix", "pattern"),
        ({"prefix": "no-slash"}, "bedrock.prefix", "pattern"),
        ({"jobHours": 23}, "bedrock.jobHours", "24"),
        ({"jobHours": 169}, "bedrock.jobHours", "168"),
        ({"externalId": "org_another"}, "bedrock.externalId", ""),
    ],
)
def test_a_wrong_field_is_named_with_its_limit(
    platform: Platform, changes: dict[str, Any], field: str, says: str
) -> None:
    answer = platform.call("POST", PATH, body(settings(**changes)))
    assert answer.status == 422, answer.text
    assert field in answer.fields, answer.fields
    assert says in answer.fields[field], answer.fields


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"name": "n", "provider": "bedrock"}, "needed by the provider bedrock"),
        (body(apiKey="sk-0123456789abcdef"), "bedrock has none"),
        (body() | {"provider": "openai", "apiKey": "sk-0123456789"}, "and by no other"),
        (body(maxRows=99), "at least 100"),
        (body(settings(bucket=None, batchRoleArn=None), batches="always"), "bedrock.bucket"),
    ],
    ids=["no-settings", "key", "other-provider", "small-jobs", "no-bucket"],
)
def test_what_does_not_fit_together_is_refused(
    platform: Platform, sent: dict[str, Any], says: str
) -> None:
    answer = platform.call("POST", PATH, sent)
    assert answer.status == 422, answer.text
    assert says in answer.text
    assert "sk-0123456789" not in answer.text


def test_a_connection_shows_where_it_calls_and_its_organisations_id(platform: Platform) -> None:
    made = platform.call("POST", PATH, body()).json["connection"]
    assert made["baseUrl"] == "https://bedrock-runtime.us-east-1.amazonaws.com"
    assert made["batches"] == "unless_urgent"
    assert made["keyVersion"] == 0
    shown = made["bedrock"]
    assert shown["externalId"] == platform.me()["organizationId"]
    assert (shown["bucket"], shown["prefix"], shown["jobHours"]) == (BUCKET, "autotune/", 24)


def test_without_a_bucket_there_are_no_batch_jobs(platform: Platform) -> None:
    alone = settings(bucket=None, batchRoleArn=None, prefix=None)
    made = platform.call("POST", PATH, body(alone, maxRows=5, minRows=1)).json["connection"]
    assert made["batches"] == "never"


def test_roles_and_bucket_are_for_good(platform: Platform) -> None:
    made = platform.call("POST", PATH, body()).json["connection"]
    changed = platform.call("PATCH", f"{PATH}/{made['id']}", {"bedrock": settings()})
    assert (changed.status, list(changed.fields)) == (422, ["bedrock"])
    keyed = platform.call("PATCH", f"{PATH}/{made['id']}", {"apiKey": "sk-0123456789abcdef"})
    assert (keyed.status, list(keyed.fields)) == (422, ["apiKey"])


def test_another_address_is_refused_where_only_public_ones_may_be_called(
    monkeypatch: pytest.MonkeyPatch, platform: Platform
) -> None:
    """A deployment signs requests for hosts of AWS alone."""
    monkeypatch.setenv("ADMIT_PRIVATE_ADDRESSES", "false")
    forget_processes()
    answer = platform.call("POST", PATH, body(baseUrl="https://bedrock.example.com"))
    assert (answer.status, list(answer.fields)) == (422, ["baseUrl"])
    assert platform.call("POST", PATH, body()).status == 201


def test_another_organisation_has_another_external_id(platform: Platform) -> None:
    first = platform.call("POST", PATH, body()).json["connection"]["bedrock"]["externalId"]
    other = platform.new_organization("other")
    theirs = platform.call("POST", PATH, body(), api_key=other).json["connection"]
    assert theirs["bedrock"]["roleArn"] == ROLE
    assert theirs["bedrock"]["externalId"] != first
