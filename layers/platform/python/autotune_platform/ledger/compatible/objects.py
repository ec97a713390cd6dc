"""Contents of files of OpenAI's batch API, in the bucket whose objects go after seven days."""

import tempfile
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal

from autotune_platform.ledger.compatible.models import Batch, File
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

Kind = Literal["output", "errors"]


class PartGoneError(Exception):
    """A part is not there any more: another request has ended the batch."""


_MEDIA_TYPE = "application/jsonl"
_LINK_SECONDS = 300
_HELD_IN_MEMORY_BYTES = 8_000_000


@part
class FileObjects:
    """Contents of files, and parts of those that batches come to."""

    bucket: str
    s3: "S3Client"
    presigning_s3: "S3Client"

    def put(self, file: File, content: bytes) -> None:
        """Store a file's content; again, it is the same."""
        self._put(key_of(file.organization_id, file.id), content)

    def read(self, file: File) -> bytes | None:
        """Return a file's content; None where it is gone."""
        key = key_of(file.organization_id, file.id)
        try:
            found = self.s3.get_object(Bucket=self.bucket, Key=key)
        except self.s3.exceptions.NoSuchKey:
            return None
        with closing(found["Body"]) as body:
            return body.read()

    def link(self, file: File) -> str:
        """Return a URL from which anybody can fetch a file for five minutes."""
        return self.presigning_s3.generate_presigned_url(
            "get_object",
            Params={"Bucket": self.bucket, "Key": key_of(file.organization_id, file.id)},
            ExpiresIn=_LINK_SECONDS,
        )

    def delete(self, file: File) -> None:
        """Delete a file's content, if it is there."""
        self.s3.delete_object(Bucket=self.bucket, Key=key_of(file.organization_id, file.id))

    def put_part(self, batch: Batch, kind: Kind, block: int, content: bytes) -> None:
        """Store what a block of a batch's lines came to; again, it is the same."""
        self._put(_part_key(batch, kind, block), content)

    def join(self, batch: Batch, kind: Kind, blocks: Sequence[int], file_id: str) -> int:
        """Put a batch's parts into one file, in order; return its length.

        Raises:
            PartGoneError: another request has ended the batch.
        """
        with tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES) as whole:
            for block in blocks:
                whole.write(self._part(batch, kind, block))
            size = whole.tell()
            whole.seek(0)
            self.s3.put_object(
                Bucket=self.bucket,
                Key=key_of(batch.organization_id, file_id),
                Body=whole,
                ContentType=_MEDIA_TYPE,
            )
        return size

    def delete_parts(self, batch: Batch, kind: Kind, blocks: Sequence[int]) -> None:
        """Delete parts that were joined; what is left over goes after seven days."""
        keys: list[ObjectIdentifierTypeDef] = [
            {"Key": _part_key(batch, kind, block)} for block in blocks
        ]
        if keys:
            self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True})

    def _part(self, batch: Batch, kind: Kind, block: int) -> bytes:
        try:
            found = self.s3.get_object(Bucket=self.bucket, Key=_part_key(batch, kind, block))
        except self.s3.exceptions.NoSuchKey as error:
            raise PartGoneError from error
        with closing(found["Body"]) as body:
            return body.read()

    def _put(self, key: str, content: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content, ContentType=_MEDIA_TYPE)


def key_of(organization_id: str, file_id: str) -> str:
    """Return where a file's content lies."""
    return f"exports/{organization_id}/{file_id}/content.jsonl"


def _part_key(batch: Batch, kind: Kind, block: int) -> str:
    return f"exports/{batch.organization_id}/{batch.id}/{kind}/{block:05}.jsonl"
