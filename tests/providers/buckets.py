"""Where Bedrock reads and writes: an S3 that a test names, or a small one within the fake.

The small one is at ``/_s3/{bucket}/{key}``, path style: put, get, head, delete and list.
"""

import hashlib
from typing import Any, Protocol
from xml.sax.saxutils import escape

from tests.providers.state import World
from tests.providers.wire import Answer, Request


class Buckets(Protocol):
    """What the fake needs of an S3."""

    def get(self, bucket: str, key: str) -> bytes | None:
        """An object's content; None if there is none."""

    def put(self, bucket: str, key: str, content: bytes) -> None: ...

    def keys(self, bucket: str, prefix: str) -> list[str]: ...


class _Own:
    """Buckets in the fake's memory."""

    def __init__(self, objects: dict[tuple[str, str], bytes]) -> None:
        self._objects = objects

    def get(self, bucket: str, key: str) -> bytes | None:
        return self._objects.get((bucket, key))

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self._objects[bucket, key] = content

    def keys(self, bucket: str, prefix: str) -> list[str]:
        return sorted(
            key for owner, key in self._objects if owner == bucket and key.startswith(prefix)
        )


class _Remote:
    """Buckets at an endpoint, by boto3."""

    def __init__(self, endpoint: str) -> None:
        # Only this needs boto3: the fake runs without it.
        import boto3
        from botocore.config import Config

        self._client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint or None,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(s3={"addressing_style": "path"}),
        )

    def get(self, bucket: str, key: str) -> bytes | None:
        try:
            return self._client.get_object(Bucket=bucket, Key=key)["Body"].read()
        except self._client.exceptions.ClientError:
            return None

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self._client.put_object(Bucket=bucket, Key=key, Body=content)

    def keys(self, bucket: str, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [one["Key"] for page in pages for one in page.get("Contents", [])]


def buckets_of(world: World) -> Buckets:
    """The S3 that ``POST /_fake/s3`` named, else the fake's own."""
    if world.s3_endpoint is None:
        return _Own(world.objects)
    return _Remote(world.s3_endpoint)


def answer(world: World, request: Request) -> Answer:
    """Serves the fake's own buckets."""
    bucket, _, key = request.path.removeprefix("/_s3/").partition("/")
    own = _Own(world.objects)
    if (refused := _refused(world, request, key)) is not None:
        return refused
    if not key:
        is_made = request.method == "PUT"
        return Answer() if is_made else _listed(own, bucket, request.one("prefix") or "")
    if request.method == "PUT":
        own.put(bucket, key, request.body)
        return Answer(headers={"etag": f'"{hashlib.md5(request.body).hexdigest()}"'})
    if request.method == "DELETE":
        world.objects.pop((bucket, key), None)
        return Answer(status=204)
    content = own.get(bucket, key)
    if content is None:
        return _error(404, "NoSuchKey", f"There is no {key}")
    headers = {"content-type": "application/octet-stream"}
    return Answer(body=content, headers=headers)


def _refused(world: World, request: Request, key: str) -> Answer | None:
    """What S3 answers to one who takes the bucket for somebody else's, or where a trap lies."""
    if request.headers.get("x-amz-expected-bucket-owner", world.bucket_owner) != world.bucket_owner:
        return _error(403, "AccessDenied", "Access Denied")
    kind = "upload" if request.method == "PUT" else "download" if key.endswith(".out") else None
    if kind is None or request.method not in ("PUT", "GET"):
        return None
    if world.traps.take(f"{kind}_429", "bedrock") is not None:
        return _error(503, "SlowDown", "Please reduce your request rate.")
    if world.traps.take(f"{kind}_500", "bedrock") is not None:
        return _error(500, "InternalError", "We encountered an internal error.")
    if world.traps.take(f"{kind}_answer_lost", "bedrock") is not None:
        return Answer(drop=True)
    return None


def _error(status: int, code: str, message: str) -> Answer:
    body = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    return Answer(status, body.encode(), {"content-type": "application/xml"})


def _listed(own: _Own, bucket: str, prefix: str) -> Answer:
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(own.get(bucket, key) or b'')}</Size>"
        "</Contents>"
        for key in own.keys(bucket, prefix)
    )
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{bucket}</Name><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    )
    return Answer(body=body.encode(), headers={"content-type": "application/xml"})
