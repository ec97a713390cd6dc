"""The bucket that exports are written to, and the links by which they are downloaded."""

import hashlib
import secrets
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.protocol.limits import EXPORT_LINK_SECONDS
from autotune_platform.exports.models import Export, StoredFile
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef


@part
class ExportFiles:
    """Files of exports, each under a name of its own.

    No two attempts write the same object, so that what a file's record says of it stays true
    whoever else is at the same stretch of work. What is in no record expires with the rest.
    """

    bucket: str
    s3: "S3Client"
    presigning_s3: "S3Client"

    def store(
        self, export: Export, path: Path, *, name: str, media_type: str, records: int
    ) -> StoredFile:
        """Upload a file."""
        key = f"{export.folder}{secrets.token_hex(8)}/{name}"
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=file, ContentType=media_type)
        return StoredFile(
            key=key, name=name, sha256=digest, bytes=path.stat().st_size, records=records
        )

    def fetch(self, file: StoredFile, path: Path) -> None:
        """Download a file; where the connection breaks on the way, the step is repeated."""
        body = self.s3.get_object(Bucket=self.bucket, Key=file.key)["Body"]
        with closing(body), path.open("wb") as downloaded:
            shutil.copyfileobj(body, downloaded)

    def link(self, file: StoredFile) -> str:
        """Return a URL that anybody may download a file from, for 15 minutes."""
        return self.presigning_s3.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self.bucket,
                "Key": file.key,
                "ResponseContentDisposition": f'attachment; filename="{file.name}"',
            },
            ExpiresIn=EXPORT_LINK_SECONDS,
        )

    def delete(self, file: StoredFile) -> None:
        """Delete a file; deleting what is not there is fine."""
        self.s3.delete_object(Bucket=self.bucket, Key=file.key)

    def delete_all(self, export: Export) -> None:
        """Delete every file of an export, also those that no record names.

        Raises:
            UnavailableError: some could not be deleted; deleting all of them again is safe.
        """
        pages = self.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=export.folder
        )
        for page in pages:
            keys: list[ObjectIdentifierTypeDef] = [
                {"Key": one["Key"]} for one in page.get("Contents", [])
            ]
            if not keys:
                continue
            answer = self.s3.delete_objects(
                Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True}
            )
            if answer.get("Errors"):
                raise UnavailableError("the bucket is busy", retry_after_seconds=1)
