"""Files of records: gzipped JSON lines, Parquet and TFRecord.

Records are written one at a time, so memory holds one record. In Parquet and TFRecord nested values
are JSON text. A package that only one format needs is imported with the first file of that format.
"""

import gzip
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from autotune.protocol.compact_json import compact
from autotune.protocol.exports import ExportFormat, ExportShape
from autotune_platform.exports.records import COLUMNS, ColumnKind, Record

SUFFIXES: Mapping[ExportFormat, str] = {
    "jsonl": "jsonl.gz",
    "parquet": "parquet",
    "tfrecord": "tfrecord",
}
MEDIA_TYPES: Mapping[ExportFormat, str] = {
    "jsonl": "application/gzip",
    "parquet": "application/vnd.apache.parquet",
    "tfrecord": "application/octet-stream",
}

MOST_RECORDS = 100_000
MOST_BYTES = 256_000_000
"""Most records of a part of an export, and most bytes before compression."""

# Half the time of level 9, and hardly larger files.
_GZIP_LEVEL = 5
_ROWS_PER_GROUP = 8_192
# A row group is held in memory several times over, and its reader takes twice the longest line.
# Neither can be spilled to disk, so both are sized by the records.
_BYTES_PER_GROUP = 16_000_000
_SHORTEST_LINE_LIMIT_BYTES = 1_048_576
_PARQUET_MEMORY = "160MB"
_PARQUET_TYPES: Mapping[ColumnKind, str] = {
    "text": "VARCHAR",
    "number": "DOUBLE",
    "flag": "BOOLEAN",
    "texts": "VARCHAR[]",
    "flags": "BOOLEAN[]",
    "json": "VARCHAR",
}


class RecordWriter(ABC):
    """Writes records of one shape into a file; use it as a context manager.

    The file is complete after the context, unless an exception ends it.

    Attributes:
        records: how many are written so far.
        size: bytes written so far, before compression.
    """

    def __init__(self, path: Path, shape: ExportShape) -> None:
        self.path = path
        self.records = 0
        self.size = 0
        self._columns = COLUMNS[shape]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if error is None:
            self._finish()
        else:
            self._close()

    @property
    def is_full(self) -> bool:
        """Whether the next record belongs to the next part of an export."""
        return self.records >= MOST_RECORDS or self.size >= MOST_BYTES

    def write(self, record: Record) -> None:
        """Add a record."""
        self.size += self._write(record)
        self.records += 1

    def _flat(self, record: Record) -> Record:
        """Return a record whose nested columns are JSON text."""
        return {
            name: compact(value) if self._columns[name] == "json" else value
            for name, value in record.items()
        }

    @abstractmethod
    def _write(self, record: Record) -> int:
        """Add a record; return its bytes."""

    def _finish(self) -> None:
        """Complete the file, and close it."""
        self._close()

    @abstractmethod
    def _close(self) -> None:
        """Close the file as it is."""


def record_writer(
    file_format: ExportFormat, shape: ExportShape, path: Path, *, compressed: bool = True
) -> RecordWriter:
    """Return the writer of a new file.

    Args:
        compressed: whether JSON lines are gzipped.
    """
    match file_format:
        case "jsonl":
            return _JsonLines(path, shape, compressed=compressed)
        case "parquet":
            return _Parquet(path, shape)
        case "tfrecord":
            return _TfRecord(path, shape)


class _JsonLines(RecordWriter):
    def __init__(self, path: Path, shape: ExportShape, *, compressed: bool) -> None:
        super().__init__(path, shape)
        self._raw = path.open("wb")
        self._file: IO[bytes] | gzip.GzipFile = self._raw
        if compressed:
            # Without a time stamp, so that the same records make the same file.
            self._file = gzip.GzipFile("", "wb", _GZIP_LEVEL, self._raw, mtime=0)

    def _write(self, record: Record) -> int:
        return self._file.write(_line(record))

    def _close(self) -> None:
        self._file.close()
        self._raw.close()


class _Parquet(RecordWriter):
    """Writes JSON lines first; DuckDB streams them into Parquet, row group by row group."""

    def __init__(self, path: Path, shape: ExportShape) -> None:
        super().__init__(path, shape)
        self._rows_path = path.with_suffix(".rows.jsonl")
        self._rows = self._rows_path.open("wb")
        self._longest = 0

    def _write(self, record: Record) -> int:
        length = self._rows.write(_line(self._flat(record)))
        self._longest = max(self._longest, length)
        return length

    def _close(self) -> None:
        self._rows.close()

    def _finish(self) -> None:
        import duckdb  # noqa: PLC0415 - 65 MB that other formats and functions do not need

        self._rows.close()
        types = {name: _PARQUET_TYPES[kind] for name, kind in self._columns.items()}
        rows_per_group = _BYTES_PER_GROUP * self.records // max(1, self.size)
        with duckdb.connect(
            config={
                "threads": 1,
                "memory_limit": _PARQUET_MEMORY,
                "temp_directory": str(self.path.with_suffix(".spill")),
                "autoinstall_known_extensions": False,
            }
        ) as database:
            rows = database.read_json(
                str(self._rows_path),
                columns=types,
                format="newline_delimited",
                maximum_object_size=max(self._longest + 1, _SHORTEST_LINE_LIMIT_BYTES),
            )
            rows.write_parquet(
                str(self.path),
                compression="zstd",
                row_group_size=min(max(1, rows_per_group), _ROWS_PER_GROUP),
            )
        self._rows_path.unlink()


class _TfRecord(RecordWriter):
    """Writes examples, with numbers of 32 bits and flags of 0 or 1."""

    def __init__(self, path: Path, shape: ExportShape) -> None:
        from autotune_platform.exports.tfrecords import ExampleFile  # noqa: PLC0415 - as above

        super().__init__(path, shape)
        self._file = ExampleFile(path)

    def _write(self, record: Record) -> int:
        flat = self._flat(record)
        return self._file.write(
            {name: _feature(flat.get(name), kind) for name, kind in self._columns.items()}
        )

    def _close(self) -> None:
        self._file.close()


def _feature(value: Any, kind: ColumnKind) -> list[Any]:
    match kind:
        case "number":
            return [float(value)]
        case "flag":
            return [int(value)]
        case "flags":
            return [int(one) for one in value]
        case "texts":
            return [one.encode() for one in value]
        case "text" | "json":
            # A reader needs a default for a feature that some examples lack.
            return [(value or "").encode()]


def _line(record: Record) -> bytes:
    return compact(record).encode() + b"\n"
