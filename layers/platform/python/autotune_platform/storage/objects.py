"""Objects of buckets: listing and deleting any number of them."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

_OBJECTS_PER_CALL = 1_000


def object_keys(s3: "S3Client", bucket: str, prefix: str) -> Iterator[str]:
    """Yield the keys below a prefix, a thousand a call."""
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for found in page.get("Contents", []):
            yield found["Key"]


def delete_objects(s3: "S3Client", bucket: str, keys: Iterable[str]) -> None:
    """Delete objects, whether they are there or not, a thousand a call.

    Raises:
        UnavailableError: the bucket kept some; doing it again is safe.
    """
    for some in groups(keys, _OBJECTS_PER_CALL):
        answer = s3.delete_objects(
            Bucket=bucket, Delete={"Objects": [{"Key": key} for key in some], "Quiet": True}
        )
        if errors := answer.get("Errors"):
            logger.warning(
                "a bucket kept objects",
                bucket=bucket,
                errors=len(errors),
                code=errors[0].get("Code"),
            )
            raise UnavailableError("the bucket is busy", retry_after_seconds=1)
