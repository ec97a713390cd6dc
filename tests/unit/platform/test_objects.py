"""Objects are deleted a thousand a call, and what a bucket keeps is an error."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.objects import delete_objects, object_keys


@pytest.fixture
def s3() -> Iterator[Any]:
    """A client of S3 with one empty bucket, ``bucket``."""
    with mock_aws():
        made = boto3.client("s3", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
        made.create_bucket(Bucket="bucket")
        yield made


@pytest.fixture
def calls(s3: Any) -> list[str]:
    """Names of the operations that are asked of S3 from now on."""
    found: list[str] = []
    s3.meta.events.register("provide-client-params.s3", lambda model, **_: found.append(model.name))
    return found


def put(s3: Any, *keys: str) -> None:
    for key in keys:
        s3.put_object(Bucket="bucket", Key=key, Body=b"")


def test_all_below_a_prefix_goes_and_nothing_else(s3: Any) -> None:
    put(s3, *(f"gone/{number}" for number in range(1_001)), "kept/1")

    delete_objects(s3, "bucket", object_keys(s3, "bucket", "gone/"))

    assert list(object_keys(s3, "bucket", "")) == ["kept/1"]


def test_a_thousand_are_one_call_and_none_is_no_call(s3: Any, calls: list[str]) -> None:
    delete_objects(s3, "bucket", (str(number) for number in range(1_000)))
    assert calls == ["DeleteObjects"]

    delete_objects(s3, "bucket", [])
    delete_objects(s3, "bucket", (str(number) for number in range(1_001)))
    assert calls == ["DeleteObjects"] * 3


def test_what_the_bucket_keeps_is_an_error(
    s3: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refused = {"Errors": [{"Key": "k", "Code": "SlowDown"}]}
    monkeypatch.setattr(s3, "delete_objects", lambda **_: refused)

    with pytest.raises(UnavailableError):
        delete_objects(s3, "bucket", ["k"])
    (said,) = caplog.records
    assert (said.__dict__["code"], said.__dict__["errors"]) == ("SlowDown", 1)
