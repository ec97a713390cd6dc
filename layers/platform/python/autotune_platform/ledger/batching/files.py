"""What a job sends and receives, in S3 while it is under way: read and written in constant memory.

All of it goes when the batch is settled. What each row was asked and answered is kept with the row.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from autotune_platform.ledger.jobs.contract import Body
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

LONGEST_LINE_BYTES = 12_000_000
"""Longest line of results that is read; a row's answer is at most 10 MB."""

_PART_BYTES = 8 * 1_048_576
_READ_BYTES = 1_048_576


@part
class JobFiles:
    """Objects of batches, by the batch's id and a name."""

    bucket: str
    s3: "S3Client"

    def store(self, batch_id: str, name: str, parts: Iterable[bytes]) -> int:
        """Store an object in place of what is there; return its length.

        It is there as a whole or not at all: what raises while parts are read leaves nothing.
        """
        key = _key(batch_id, name)
        pending = bytearray()
        upload = _Upload(self.s3, self.bucket, key)
        try:
            for some in parts:
                pending += some
                while len(pending) >= _PART_BYTES:
                    upload.add(bytes(pending[:_PART_BYTES]))
                    del pending[:_PART_BYTES]
            return upload.finish(bytes(pending))
        except BaseException:
            upload.abort()
            raise

    def body(self, batch_id: str, name: str, length: int) -> Body:
        """Return an object as it is sent."""
        return Body(length, lambda: self._read(_key(batch_id, name), 0))

    def read(self, batch_id: str, name: str) -> bytes:
        """Return the whole of a small object."""
        with closing(
            self.s3.get_object(Bucket=self.bucket, Key=_key(batch_id, name))["Body"]
        ) as body:
            return body.read()

    def lines(self, batch_id: str, name: str, offset: int) -> Iterator[tuple[int, bytes | None]]:
        """Yield lines from an offset on that is below the object's length.

        Each comes with the offset behind it; one that is too long to be read is None.
        """
        line = bytearray()
        begun = offset  # where the present line begins
        length = 0  # of the present line so far, also where it is too long to be kept
        for some in self._read(_key(batch_id, name), offset):
            first, *others = some.split(b"\n")
            length += len(first)
            line += first if length <= LONGEST_LINE_BYTES else b""
            for other in others:
                begun += length + 1
                yield begun, None if length > LONGEST_LINE_BYTES else bytes(line)
                line[:] = other
                length = len(other)
        if length:
            yield begun + length, None if length > LONGEST_LINE_BYTES else bytes(line)

    def delete(self, batch_id: str, names: Iterable[str]) -> None:
        """Delete objects; those that are gone are fine."""
        for name in names:
            self.s3.delete_object(Bucket=self.bucket, Key=_key(batch_id, name))

    def _read(self, key: str, offset: int) -> Iterator[bytes]:
        found = self.s3.get_object(Bucket=self.bucket, Key=key, Range=f"bytes={offset}-")
        with closing(found["Body"]) as body:
            yield from body.iter_chunks(_READ_BYTES)


class _Upload:
    """One object, in parts once it is longer than one."""

    def __init__(self, s3: "S3Client", bucket: str, key: str) -> None:
        self._s3 = s3
        self._bucket = bucket
        self._key = key
        self._id: str | None = None
        self._parts: list[CompletedPartTypeDef] = []
        self._length = 0

    def add(self, body: bytes) -> None:
        if self._id is None:
            begun = self._s3.create_multipart_upload(Bucket=self._bucket, Key=self._key)
            self._id = begun["UploadId"]
        number = len(self._parts) + 1
        answer = self._s3.upload_part(
            Bucket=self._bucket,
            Key=self._key,
            UploadId=self._id,
            PartNumber=number,
            Body=body,
        )
        self._parts.append({"ETag": answer["ETag"], "PartNumber": number})
        self._length += len(body)

    def finish(self, rest: bytes) -> int:
        if self._id is None:
            self._s3.put_object(Bucket=self._bucket, Key=self._key, Body=rest)
            return len(rest)
        if rest:
            self.add(rest)
        self._s3.complete_multipart_upload(
            Bucket=self._bucket,
            Key=self._key,
            UploadId=self._id,
            MultipartUpload={"Parts": self._parts},
        )
        return self._length

    def abort(self) -> None:
        if self._id is not None:
            self._s3.abort_multipart_upload(Bucket=self._bucket, Key=self._key, UploadId=self._id)


def _key(batch_id: str, name: str) -> str:
    return f"ledger/{batch_id}/{name}"
