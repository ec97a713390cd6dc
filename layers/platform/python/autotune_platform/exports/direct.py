"""Small exports in the body of an answer: the same records, without parts and manifest."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.protocol.exports import CreateExportRequest, ExportFormat
from autotune.protocol.limits import MAX_DIRECT_EXPORT_BYTES, MAX_DIRECT_EXPORT_RECORDS
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.exports.formats import MEDIA_TYPES, record_writer
from autotune_platform.exports.models import Export
from autotune_platform.exports.reading import ExportSource, VerdictWalk
from autotune_platform.exports.records import Skipped, record_maker
from autotune_platform.exports.scratch import scratch_folder
from autotune_platform.runtime.errors import AnswerTooLargeError, NotFoundError

DIRECT_MEDIA_TYPES: Mapping[ExportFormat, str] = {**MEDIA_TYPES, "jsonl": "application/jsonl"}
"""JSON lines are not compressed in an answer."""

# The API function ends at 29 s, as API Gateway does.
_LONGEST_SECONDS = 20

_INSTEAD = "use POST /api/v1/exports, or narrower filters"


@dataclass(frozen=True)
class Exported:
    """The body of an answer."""

    body: bytes
    media_type: str


class DirectExport:
    """Writes records of single scores into one answer."""

    def __init__(self, *, source: ExportSource) -> None:
        self._source = source

    def export(self, caller: Caller, request: CreateExportRequest) -> Exported:
        """Return the records that match a request of shape ``scores``.

        Raises:
            NotFoundError: the task is not the organisation's.
            AnswerTooLargeError: the records exceed a limit of one answer.
        """
        if not self._source.is_known(caller, request.filters.task_id):
            raise NotFoundError(f"no task {request.filters.task_id}")
        make = record_maker(request)
        deadline = time.monotonic() + _LONGEST_SECONDS
        export = Export.new(caller.organization_id, request)
        walk = VerdictWalk(self._source, export, has_time=lambda: time.monotonic() < deadline)
        with scratch_folder() as directory:
            path = directory / "records"
            with record_writer(request.format, request.shape, path, compressed=False) as writer:
                for number, (verdict, text) in enumerate(walk):
                    if number >= MAX_DIRECT_EXPORT_RECORDS:
                        raise _too_large("verdicts", MAX_DIRECT_EXPORT_RECORDS)
                    record = make(verdict, text) if verdict.value is not None and text else None
                    if record is None or isinstance(record, Skipped):
                        continue
                    writer.write(record)
                    if writer.size > MAX_DIRECT_EXPORT_BYTES:
                        raise _too_large("bytes", MAX_DIRECT_EXPORT_BYTES)
                if walk.position is not None:
                    raise _too_large("seconds", _LONGEST_SECONDS)
            return Exported(path.read_bytes(), DIRECT_MEDIA_TYPES[request.format])


def _too_large(unit: str, maximum: int) -> AnswerTooLargeError:
    return AnswerTooLargeError(
        f"more than {maximum} {unit} for one answer; {_INSTEAD}",
        limit=LimitProblem(name="scores in one answer", maximum=maximum, unit=unit),
    )
