"""Data sets in S3: objects named by what is in them, so that none is ever overwritten."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, Self

from autotune.protocol.compact_json import compact
from autotune_platform.apprentice.evaluators import MAX_ANSWER_VALUES
from autotune_platform.apprentice.examples.manifests import Frozen, Row, TamperedDataSetError
from autotune_platform.apprentice.examples.sides import Side
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.parts import part
from autotune_platform.storage.objects import delete_objects, object_keys

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

MOST_BYTES = 400_000_000
"""Most bytes of one side's lines before they are packed: what a function has room for."""

_MEDIA_TYPE = "application/gzip"
_HELD_IN_MEMORY_BYTES = 8_000_000
_READ_BYTES = 1_048_576
_LEVEL = 6
# Two texts of 100,000 bytes, which escapes may make longer, and an answer of a model twice that.
_LONGEST_LINE = 2_000_000


class RowFile:
    """Rows of one side as they are written, gzipped, in the order of their ids.

    The same rows give the same bytes: nothing in them says when they were packed.

    Attributes:
        side: whose rows they are.
        rows: how many are written.
        size: bytes of their lines.
    """

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self.rows = self.size = 0
        self._kept = ExitStack()
        self.packed: IO[bytes] = self._kept.enter_context(
            SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES)  # noqa: SIM115 - it is closed below
        )
        self._lines = gzip.GzipFile(
            filename="", mode="wb", fileobj=self.packed, compresslevel=_LEVEL, mtime=0
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give back the room that it takes."""
        self._lines.close()
        self._kept.close()

    def add(self, row: Row) -> bool:
        """Write a row; return False where there is no room for it."""
        document = {
            "id": row.id,
            "input": row.input,
            "output": row.output,
            "selection": row.selection,
            "propensity": row.propensity,
            "group": row.group,
        }
        line = compact(document).encode() + b"\n"
        if self.size + len(line) > MOST_BYTES:
            return False
        self._lines.write(line)
        self.rows += 1
        self.size += len(line)
        return True

    def end(self) -> tuple[str, int]:
        """Return the digest of the bytes and how many there are, once all rows are written."""
        self._lines.close()
        size = self.packed.seek(0, 2)
        self.packed.seek(0)
        digest = hashlib.sha256()
        while some := self.packed.read(_READ_BYTES):
            digest.update(some)
        self.packed.seek(0)
        return digest.hexdigest(), size


@part
class DataFiles:
    """Objects of data sets in the bucket."""

    bucket: str
    s3: "S3Client"

    def put(self, task_id: str, training_id: str, file: RowFile) -> Frozen:
        """Store what was written of one side."""
        sha256, size = file.end()
        key = f"{_folder(task_id, training_id)}{file.side}-{sha256[:32]}.jsonl.gz"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=file.packed, ContentType=_MEDIA_TYPE)
        return Frozen(key=key, sha256=sha256, bytes=size, rows=file.rows)

    def rows(self, frozen: Frozen) -> Iterator[Row]:
        """Yield the rows of one side, once all of its bytes are known to be those.

        Raises:
            TamperedDataSetError: they are not, or the object is gone.
        """
        with self._fetched(frozen) as packed:
            try:
                with gzip.GzipFile(fileobj=packed, mode="rb") as lines:
                    while line := lines.readline(_LONGEST_LINE):
                        yield _row(line)
            except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
                raise TamperedDataSetError(f"{frozen.key} cannot be read") from error

    def delete(self, task_id: str, training_id: str) -> None:
        """Delete the objects of a data set; doing it again is fine.

        Raises:
            UnavailableError: the bucket kept some.
        """
        folder = _folder(task_id, training_id)
        delete_objects(self.s3, self.bucket, object_keys(self.s3, self.bucket, folder))

    @contextmanager
    def _fetched(self, frozen: Frozen) -> Iterator[IO[bytes]]:
        try:
            body = self.s3.get_object(Bucket=self.bucket, Key=frozen.key)["Body"]
        except self.s3.exceptions.NoSuchKey as error:
            raise TamperedDataSetError(f"{frozen.key} is gone") from error
        digest, size = hashlib.sha256(), 0
        with (
            closing(body),
            SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES) as packed,
        ):
            for some in body.iter_chunks(_READ_BYTES):
                size += len(some)
                if size > frozen.bytes:
                    break
                digest.update(some)
                packed.write(some)
            if size != frozen.bytes or digest.hexdigest() != frozen.sha256:
                raise TamperedDataSetError(f"{frozen.key} is not what was frozen")
            packed.seek(0)
            yield packed


def _folder(task_id: str, training_id: str) -> str:
    return f"apprentice/{task_id}/data/{training_id}/"


def _row(line: bytes) -> Row:
    found: dict[str, Any] = parse_strictly(line, most_values=3 * MAX_ANSWER_VALUES)
    return Row(
        id=found["id"],
        input=found["input"],
        output=found["output"],
        selection=found["selection"],
        propensity=found["propensity"],
        group=found["group"],
    )
