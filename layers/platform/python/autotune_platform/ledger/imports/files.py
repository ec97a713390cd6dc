"""Files of imports in S3: the upload, what was rejected of each chunk, and the report of all.

They lie in the bucket whose objects expire after seven days, so that what nobody comes back for
goes by itself.
"""

import json
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autotune.protocol.limits import LLM_IMPORT_LINK_SECONDS
from autotune_platform.ledger.imports.models import Import, LineError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.objects import delete_objects, object_keys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MEDIA_TYPE = "application/jsonl"
_GONE = frozenset({"404", "NoSuchKey", "NotFound"})
_CHANGED = frozenset({"412", "PreconditionFailed"})
_HELD_IN_MEMORY_BYTES = 8_000_000


class FileGoneError(Exception):
    """The uploaded file is not there any more."""


class FileChangedError(Exception):
    """Another file was uploaded since the import was started."""


@dataclass(frozen=True)
class Uploaded:
    """A file that is there."""

    bytes: int
    etag: str


@part
class ImportFiles:
    """Files of imports in the bucket."""

    bucket: str
    s3: "S3Client"
    presigning_s3: "S3Client"

    def upload_url(self, one: Import) -> tuple[str, dict[str, str]]:
        """Return where a file of just the import's length is put, and with which headers."""
        size = one.request.bytes
        url = self.presigning_s3.generate_presigned_url(
            "put_object",
            Params={
                "Bucket": self.bucket,
                "Key": _upload(one),
                # Signed: S3 refuses a body of any other length.
                "ContentLength": size,
                "ContentType": _MEDIA_TYPE,
            },
            ExpiresIn=LLM_IMPORT_LINK_SECONDS,
        )
        return url, {"Content-Type": _MEDIA_TYPE, "Content-Length": str(size)}

    def uploaded(self, one: Import) -> Uploaded | None:
        """Return the file as it is now; None where there is none."""
        try:
            found = self.s3.head_object(Bucket=self.bucket, Key=_upload(one))
        except self.s3.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                return None
            raise
        return Uploaded(found["ContentLength"], found["ETag"])

    def put_upload(self, one: Import, content: bytes) -> None:
        """Store an import's file, which came by another way; again, it is the same."""
        self.s3.put_object(
            Bucket=self.bucket, Key=_upload(one), Body=content, ContentType=_MEDIA_TYPE
        )

    def window(self, one: Import, size: int) -> bytes:
        """Return up to ``size`` bytes of the file, from the import's offset.

        Raises:
            FileGoneError: it is not there any more.
            FileChangedError: it is not the file that the import was started with.
        """
        if one.offset >= one.request.bytes:
            return b""
        last = min(one.offset + size, one.request.bytes) - 1
        try:
            body = self.s3.get_object(
                Bucket=self.bucket,
                Key=_upload(one),
                Range=f"bytes={one.offset}-{last}",
                IfMatch=one.etag or "",
            )["Body"]
        except self.s3.exceptions.ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _GONE:
                raise FileGoneError from error
            if code in _CHANGED:
                raise FileChangedError from error
            raise
        with closing(body):
            return body.read()

    def put_errors(self, one: Import, errors: Sequence[LineError]) -> None:
        """Store what was rejected of the chunk at the import's offset; again, it is the same."""
        lines = (json.dumps(_on_wire(error), ensure_ascii=False) + "\n" for error in errors)
        self.s3.put_object(
            Bucket=self.bucket,
            Key=f"{_folder(one)}errors/{one.phase}-{one.offset:012}.jsonl",
            Body="".join(lines).encode(),
            ContentType=_MEDIA_TYPE,
        )

    def put_report(self, one: Import) -> int:
        """Put what all chunks rejected into one file, in order; return its length."""
        with tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES) as report:
            for key in object_keys(self.s3, self.bucket, f"{_folder(one)}errors/{one.phase}-"):
                body = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"]
                with closing(body):
                    report.write(body.read())
            size = report.tell()
            report.seek(0)
            self.s3.put_object(
                Bucket=self.bucket, Key=_report(one), Body=report, ContentType=_MEDIA_TYPE
            )
        return size

    def report_url(self, one: Import) -> str:
        """Return a URL from which anybody can fetch the report for an hour."""
        return self.presigning_s3.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self.bucket,
                "Key": _report(one),
                "ResponseContentDisposition": f'attachment; filename="{one.id}-rejected.jsonl"',
            },
            ExpiresIn=LLM_IMPORT_LINK_SECONDS,
        )

    def delete_upload(self, one: Import) -> None:
        """Delete the uploaded file, if it is there."""
        self.s3.delete_object(Bucket=self.bucket, Key=_upload(one))

    def delete_all(self, one: Import) -> None:
        """Delete every file of an import.

        Raises:
            UnavailableError: some could not be deleted; calling it again is safe.
        """
        delete_objects(self.s3, self.bucket, object_keys(self.s3, self.bucket, _folder(one)))


def _folder(one: Import) -> str:
    return f"exports/{one.organization_id}/{one.id}/"


def _upload(one: Import) -> str:
    return f"{_folder(one)}upload.jsonl"


def _report(one: Import) -> str:
    return f"{_folder(one)}rejected.jsonl"


def _on_wire(error: LineError) -> dict[str, Any]:
    named = {
        "line": error.line,
        "customId": error.custom_id,
        "field": error.field,
        "message": error.message,
    }
    return {name: value for name, value in named.items() if value is not None}
