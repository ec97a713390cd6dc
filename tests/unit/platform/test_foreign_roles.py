"""Roles of other accounts: when they are refused, and signatures beside those of AWS's SDK."""

import json
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError

from autotune.protocol.ids import is_id
from autotune_platform.runtime.foreign_roles import (
    RoleCredentials,
    RoleRefusedError,
    RoleUnavailableError,
    assume_role,
    signed_headers,
)

ROLE = "arn:aws:iam::123456789012:role/autotune-bedrock"
EXPIRES = datetime(2026, 11, 24, tzinfo=UTC)
GIVEN = {
    "AccessKeyId": "ASIA1",
    "SecretAccessKey": "hidden-secret",
    "SessionToken": "hidden-token",
    "Expiration": EXPIRES,
}


class Sts:
    """Answers from a list, and keeps what was asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def assume_role(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"Credentials": answer}


def error(code: str, status: int = 403) -> ClientError:
    answer = {
        "Error": {"Code": code, "Message": "m"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(answer, "AssumeRole")  # type: ignore[arg-type]


def assume(sts: Sts) -> RoleCredentials:
    may = [{"Effect": "Allow", "Action": "bedrock:InvokeModel", "Resource": "*"}]
    return assume_role(sts, role_arn=ROLE, external_id="org_1", session_name="autotune-1", may=may)


def test_a_role_is_asked_without_its_external_id_before_it_is_used() -> None:
    sts = Sts(error("AccessDenied"), error("AccessDenied"), GIVEN)
    found = assume(sts)
    assert (found.access_key_id, found.expires_at) == ("ASIA1", EXPIRES)
    assert "hidden" not in repr(found)
    without, other, own = (one.get("ExternalId") for one in sts.asked)
    assert (without, own) == (None, "org_1")
    assert is_id("org", other)
    policy = json.loads(sts.asked[2]["Policy"])
    assert [one["Action"] for one in policy["Statement"]] == ["bedrock:InvokeModel"]


def test_a_role_that_anybody_may_have_us_assume_is_refused() -> None:
    with pytest.raises(RoleRefusedError, match="without an external id"):
        assume(Sts(GIVEN))


@pytest.mark.parametrize("demanded", ["*", "org_*"])
def test_a_role_that_any_external_id_may_have_us_assume_is_refused(demanded: str) -> None:
    class Lenient(Sts):
        def assume_role(self, **asked: Any) -> dict[str, Any]:
            if not fnmatchcase(asked.get("ExternalId", ""), demanded) or "ExternalId" not in asked:
                raise error("AccessDenied")
            return {"Credentials": GIVEN}

    with pytest.raises(RoleRefusedError, match="with any external id"):
        assume(Lenient())


@pytest.mark.parametrize("code", ["AccessDenied", "RegionDisabledException", "ValidationError"])
def test_a_role_that_cannot_be_assumed_is_refused(code: str) -> None:
    with pytest.raises(RoleRefusedError, match=code):
        assume(Sts(error("AccessDenied"), error("AccessDenied"), error(code)))


@pytest.mark.parametrize(
    "answers",
    [
        [error("Throttling", 503)],
        [error("AccessDenied"), error("ThrottlingException", 400)],
        [error("AccessDenied"), error("InternalFailure", 500)],
        [EndpointConnectionError(endpoint_url="https://sts.example")],
    ],
    ids=["probe", "throttled", "failed", "unreached"],
)
def test_a_token_service_that_fails_says_nothing_of_the_role(answers: list[Exception]) -> None:
    with pytest.raises(RoleUnavailableError):
        assume(Sts(*answers))


def test_what_else_stands_against_asking_without_the_id_is_not_taken_for_a_refusal() -> None:
    with pytest.raises(RoleRefusedError, match="MalformedPolicyDocument"):
        assume(Sts(error("MalformedPolicyDocument", 400)))


class _SentError(Exception):
    """Nothing is sent."""


def sent_by_boto3(service: str, call: str, **asked: Any) -> AWSPreparedRequest:
    """Return the request that AWS's SDK would send, with its signature."""
    client = boto3.client(
        service,
        region_name="us-east-1",
        aws_access_key_id="ASIA1",
        aws_secret_access_key="hidden-secret",
        aws_session_token="hidden-token",
        config=Config(retries={"total_max_attempts": 1}, s3={"payload_signing_enabled": True}),
    )
    kept: list[AWSPreparedRequest] = []

    def keep(request: AWSPreparedRequest, **_: Any) -> None:
        kept.append(request)
        raise _SentError

    client.meta.events.register_first("before-send", keep)
    with pytest.raises(_SentError):
        getattr(client, call)(**asked)
    return kept[0]


@pytest.mark.parametrize(
    ("service", "call", "asked"),
    [
        (
            "bedrock",
            "get_model_invocation_job",
            {"jobIdentifier": "arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/a1b2c3"},
        ),
        ("bedrock", "list_model_invocation_jobs", {"nameContains": "autotune-1", "maxResults": 7}),
        (
            "bedrock-runtime",
            "converse",
            {
                "modelId": "us.amazon.nova-lite-v1:0",
                "messages": [{"role": "user", "content": [{"text": "q"}]}],
            },
        ),
        ("s3", "get_object", {"Bucket": "lab-batches", "Key": "autotune/lbt_1/input.jsonl"}),
        (
            "s3",
            "list_objects_v2",
            {"Bucket": "lab-batches", "Prefix": "autotune/lbt_1/", "ExpectedBucketOwner": "1" * 12},
        ),
    ],
    ids=["get", "list", "converse", "object", "objects"],
)
def test_a_signature_is_that_of_awss_own_sdk(
    service: str, call: str, asked: dict[str, Any]
) -> None:
    theirs = sent_by_boto3(service, call, **asked)
    headers = {name: _text(value) for name, value in theirs.headers.items()}
    authorization = headers["Authorization"]
    signed = authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    added = {"host", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"}
    before = {
        name: value
        for name, value in headers.items()
        if name.lower() in signed and name.lower() not in added
    }
    moment = datetime.strptime(headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    credentials = RoleCredentials("ASIA1", "hidden-secret", "hidden-token", EXPIRES)
    with patch("botocore.auth.get_current_datetime", lambda: moment.replace(tzinfo=None)):
        ours = signed_headers(
            credentials,
            service="s3" if service == "s3" else "bedrock",
            region="us-east-1",
            method=theirs.method,
            url=theirs.url,
            headers=before,
            body=theirs.body or b"",
        )
    assert ours["Authorization"] == authorization
    assert ours["X-Amz-Security-Token"] == "hidden-token"


def test_a_body_that_comes_in_parts_is_not_signed() -> None:
    credentials = RoleCredentials("ASIA1", "hidden-secret", "hidden-token", EXPIRES)
    found = signed_headers(
        credentials,
        service="s3",
        region="us-east-1",
        method="PUT",
        url="https://lab-batches.s3.us-east-1.amazonaws.com/autotune/input.jsonl",
        headers={},
        body=None,
    )
    assert found["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
