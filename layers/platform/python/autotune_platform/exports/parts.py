"""Writes one part of an export."""

from pathlib import Path
from types import TracebackType
from typing import Self

from autotune_platform.exports.formats import SUFFIXES, RecordWriter, record_writer
from autotune_platform.exports.models import Export
from autotune_platform.exports.records import Record

MOST_RECORDS = 100_000
MOST_BYTES = 256_000_000
"""Most records of a part, and most bytes before compression."""


class PartWriter:
    """Writes the next part of an export; use it as a context manager.

    The file is complete after the context. There is no file if there was no record.
    """

    def __init__(self, export: Export, directory: Path) -> None:
        self.name = f"part-{export.parts + 1:05}.{SUFFIXES[export.request.format]}"
        self.path = directory / self.name
        self.records = 0
        self._export = export
        self._writer: RecordWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._writer is None:
            return
        if error is None:
            self._writer.finish()
        else:
            self._writer.abandon()

    @property
    def is_full(self) -> bool:
        """Whether the next record belongs to the next part."""
        size = self._writer.size if self._writer else 0
        return self.records >= MOST_RECORDS or size >= MOST_BYTES

    def write(self, record: Record) -> None:
        """Add a record."""
        if self._writer is None:
            request = self._export.request
            self._writer = record_writer(request.format, request.shape, self.path)
        self._writer.write(record)
        self.records += 1
