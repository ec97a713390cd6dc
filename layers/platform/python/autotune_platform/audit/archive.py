"""The bucket of exported days: gzipped JSON lines, which nothing here deletes."""

import gzip
import io
from collections.abc import Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING

from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_PART_BYTES = 16_000_000


@part
class AuditArchive:
    """Writes the entries of an organisation and a day.

    Objects are named ``audit/organization=org_…/day=2026-11-21/part-00000.jsonl.gz``, which Athena
    and its like read as a partitioned table. The same entries make the same objects, byte for byte.
    """

    bucket: str
    s3: "S3Client"

    def write(self, organization_id: str, day: date, lines: Iterable[str]) -> int:
        """Write lines in parts of about 16 MB before compression; return how many lines there were.

        A day without any gets no object. One part at a time is in memory, compressed.
        """
        folder = f"audit/organization={organization_id}/day={day.isoformat()}"
        count = 0
        for number, (some, body) in enumerate(_parts(lines)):
            self.s3.put_object(
                Bucket=self.bucket,
                Key=f"{folder}/part-{number:05}.jsonl.gz",
                Body=body,
                ContentType="application/gzip",
            )
            count += some
        return count


def _parts(lines: Iterable[str]) -> Iterator[tuple[int, bytes]]:
    rest = iter(lines)
    while True:
        packed = io.BytesIO()
        count = size = 0
        # Without the time of packing, which would make each run's objects others.
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
            for line in rest:
                size += file.write(f"{line}\n".encode())
                count += 1
                if size >= _PART_BYTES:
                    break
        if not count:
            return
        yield count, packed.getvalue()
