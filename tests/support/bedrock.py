"""A role, a bucket and a token service at the fake, for connections to Bedrock."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import boto3
from botocore.config import Config

from autotune_platform.runtime import clients

ROLE = "arn:aws:iam::123456789012:role/autotune-bedrock-lab"
BATCH_ROLE = "arn:aws:iam::123456789012:role/service/bedrock-batch"
MODEL = "amazon.nova-lite-v1:0"
BUCKET = "lab-batches"
PREFIX = "autotune/"
PRICES = {
    MODEL: {
        "inputUsd": "0.06",
        "outputUsd": "0.24",
        "cachedInputUsd": "0.015",
        "batchInputUsd": "0.03",
        "batchOutputUsd": "0.12",
        "batchCachedInputUsd": "0.0075",
    }
}


def settings(**changes: Any) -> dict[str, Any]:
    """A connection's ``bedrock``, as a caller sends it."""
    usual = {
        "region": "us-east-1",
        "roleArn": ROLE,
        "batchRoleArn": BATCH_ROLE,
        "bucket": BUCKET,
        "prefix": PREFIX,
    }
    given = {**usual, **changes}
    return {name: value for name, value in given.items() if value is not None}


def sts_of(base_url: str) -> Any:
    """A client of the fake's token service."""
    return boto3.client(
        "sts",
        endpoint_url=f"{base_url}/_sts/",
        region_name="us-east-1",
        aws_access_key_id="platform",
        aws_secret_access_key="platform-secret",
        config=Config(retries={"total_max_attempts": 1}),
    )


@contextmanager
def token_service(base_url: str) -> Iterator[None]:
    """Have the platform assume roles at the fake."""
    sts = sts_of(base_url)
    with patch.object(clients, "sts", lambda: sts):
        yield
