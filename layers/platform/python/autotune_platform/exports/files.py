"""Files of exports in their bucket, and links to download them."""

import hashlib
import secrets
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.protocol.limits import EXPORT_LINK_SECONDS
from autotune_platform.exports.models import Export, StoredFile
from autotune_platform.runtime.parts import part
from autotune_platform.storage.objects import delete_objects, object_keys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@part
class ExportFiles:
    """Files of exports in the bucket, each under its own key.

    No two attempts write the same object. So the record of a file stays true, even if another
    worker runs the same segment. Files without a record expire like all others.
    """

    bucket: str
    s3: "S3Client"
    presigning_s3: "S3Client"

    def store(self, export: Export, path: Path, *, media_type: str, records: int) -> StoredFile:
        """Upload a file under its own name."""
        key = f"{export.folder}{secrets.token_hex(8)}/{path.name}"
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=file, ContentType=media_type)
        return StoredFile(
            key=key, name=path.name, sha256=digest, bytes=path.stat().st_size, records=records
        )

    def fetch(self, file: StoredFile, path: Path) -> None:
        """Download a file; if the connection breaks, the step is repeated."""
        body = self.s3.get_object(Bucket=self.bucket, Key=file.key)["Body"]
        with closing(body), path.open("wb") as downloaded:
            shutil.copyfileobj(body, downloaded)

    def link(self, file: StoredFile) -> str:
        """Return a URL from which anybody can download the file for 15 minutes."""
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
        """Delete a file, if it exists."""
        self.s3.delete_object(Bucket=self.bucket, Key=file.key)

    def delete_all(self, export: Export) -> None:
        """Delete every file of an export, also those without a record.

        Raises:
            UnavailableError: some could not be deleted; calling it again is safe.
        """
        delete_objects(self.s3, self.bucket, object_keys(self.s3, self.bucket, export.folder))
