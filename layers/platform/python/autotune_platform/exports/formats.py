"""Files of records: gzipped JSON lines, Parquet and TFRecord.

Records are written one at a time, so memory holds one record. In Parquet and TFRecord nested values
are JSON text. A package that only one format needs is imported with the first file of that format.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

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


class RecordWriter(Protocol):
    """Writes records of one shape into a file, which is complete after ``finish``."""

    @property
    def size(self) -> int:
        """Bytes written so far, before compression."""

    def write(self, record: Record) -> None:
        """Add a record."""

    def finish(self) -> None:
        """Complete the file, and close it."""

    def abandon(self) -> None:
        """Close the file incomplete."""


def record_writer(file_format: ExportFormat, shape: ExportShape, path: Path) -> RecordWriter:
    """Return the writer of a new file."""
    match file_format:
        case "jsonl":
            return _JsonLines(path)
        case "parquet":
            return _Parquet(path, COLUMNS[shape])
        case "tfrecord":
            return _TfRecord(path, COLUMNS[shape])


def json_line(record: Record) -> bytes:
    """Return a record as a line of JSON."""
    return _json(record).encode() + b"\n"


class _JsonLines:
    def __init__(self, path: Path) -> None:
        # Without a time stamp, so that the same records make the same file.
        self._raw = path.open("wb")
        self._file = gzip.GzipFile(
            filename="", fileobj=self._raw, mode="wb", compresslevel=_GZIP_LEVEL, mtime=0
        )
        self.size = 0

    def write(self, record: Record) -> None:
        self.size += self._file.write(json_line(record))

    def finish(self) -> None:
        self._file.close()
        self._raw.close()

    abandon = finish


class _Parquet:
    """Writes JSON lines first; DuckDB streams them into Parquet, row group by row group."""

    def __init__(self, path: Path, columns: Mapping[str, ColumnKind]) -> None:
        self._path = path
        self._columns = columns
        self._rows_path = path.with_suffix(".rows.jsonl")
        self._rows = self._rows_path.open("wb")
        self._records = 0
        self._longest = 0
        self.size = 0

    def write(self, record: Record) -> None:
        length = self._rows.write(json_line(_flat(record, self._columns)))
        self._records += 1
        self._longest = max(self._longest, length)
        self.size += length

    def abandon(self) -> None:
        self._rows.close()

    def finish(self) -> None:
        import duckdb  # noqa: PLC0415 - 65 MB that other formats and functions do not need

        self._rows.close()
        types = {name: _PARQUET_TYPES[kind] for name, kind in self._columns.items()}
        rows_per_group = _BYTES_PER_GROUP * self._records // max(1, self.size)
        with duckdb.connect(
            config={
                "threads": 1,
                "memory_limit": _PARQUET_MEMORY,
                "temp_directory": str(self._path.with_suffix(".spill")),
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
                str(self._path),
                compression="zstd",
                row_group_size=min(max(1, rows_per_group), _ROWS_PER_GROUP),
            )
        self._rows_path.unlink()


class _TfRecord:
    """Writes examples, with numbers of 32 bits and flags of 0 or 1."""

    def __init__(self, path: Path, columns: Mapping[str, ColumnKind]) -> None:
        from autotune_platform.exports.tfrecords import ExampleFile  # noqa: PLC0415 - as above

        self._file = ExampleFile(path)
        self._columns = columns

    @property
    def size(self) -> int:
        return self._file.size

    def write(self, record: Record) -> None:
        flat = _flat(record, self._columns)
        self._file.write(
            {name: _feature(flat.get(name), kind) for name, kind in self._columns.items()}
        )

    def finish(self) -> None:
        self._file.close()

    abandon = finish


def _flat(record: Record, columns: Mapping[str, ColumnKind]) -> Record:
    """Return a record whose nested columns are JSON text."""
    return {
        name: _json(value) if columns[name] == "json" else value for name, value in record.items()
    }


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


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
