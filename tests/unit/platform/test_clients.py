"""Clients reach what they are to reach."""

from urllib.parse import urlsplit

import pytest

from autotune_platform.runtime import clients


@pytest.mark.parametrize(
    ("region", "endpoint", "host"),
    [
        ("eu-west-1", None, "bucket.s3.eu-west-1.amazonaws.com"),
        ("us-east-1", None, "bucket.s3.amazonaws.com"),
        ("us-east-1", "http://localhost:4566", "localhost:4566"),
    ],
)
def test_a_link_names_a_host_that_does_not_redirect(
    monkeypatch: pytest.MonkeyPatch, region: str, endpoint: str | None, host: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    if endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
    clients.presigning_s3.cache_clear()
    try:
        url = clients.presigning_s3().generate_presigned_url(
            "get_object", Params={"Bucket": "bucket", "Key": "k"}
        )
    finally:
        clients.presigning_s3.cache_clear()
    assert urlsplit(url).netloc == host
    assert f"%2F{region}%2Fs3%2F" in url
