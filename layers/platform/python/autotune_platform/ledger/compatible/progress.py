"""How far a batch is: looked up, and taken further, whenever somebody asks.

Lines are looked at in blocks. Once all rows of a block have ended, what they came to is written
into a part of the batch's files and counted for good: nobody reads these rows again. When the last
block is done, the parts become files. Each step can be repeated, and comes to the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from autotune.protocol.compact_json import compact
from autotune.protocol.ids import derived_id
from autotune_platform.access.models import Caller
from autotune_platform.ledger.compatible.models import Batch, BatchStatus, File, Settled
from autotune_platform.ledger.compatible.objects import FileObjects, Kind, PartGoneError
from autotune_platform.ledger.compatible.repository import BatchRepository, FileRepository
from autotune_platform.ledger.imports.models import Import
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.openai_results import openai_result
from autotune_platform.ledger.records import LedgerRecords
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.service import LedgerService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

Status = Literal[
    "validating",
    "failed",
    "in_progress",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
]

# Longer than the last step of an import may take that was stopped, and may still enqueue.
_LATE_ROWS = timedelta(minutes=6)
_CANCELERS = 8
_NOTHING: Settled = (0, 0, 0, 0, 0, 0, 0)
# A row's own last moment, and a provider's job that ended before it asked it, at the last attempt.
_EXPIRED = frozenset({"expired", "batch_expired"})
_CODES: Mapping[str, str] = {"canceled": "batch_cancelled", "expired": "batch_expired"}


@dataclass(frozen=True)
class Progress:
    """A batch and how far it is."""

    batch: Batch
    status: Status
    counts: Settled
    in_progress_at: datetime | None


@part
class BatchProgress:
    """Takes batches further as their rows end."""

    batches: BatchRepository
    files: FileRepository
    objects: FileObjects
    imports: ImportRepository
    rows: RowRepository
    records: LedgerRecords
    ledger: LedgerService
    clock: Clock = SYSTEM_CLOCK

    def of(self, batch: Batch) -> Progress:
        """Return how far a batch is known to be, without a look at its rows."""
        one = self.imports.get(batch.import_id)
        return self._progress(batch, one, batch.settled.values())

    def advance(self, caller: Caller, batch: Batch, *, has_time: Callable[[], bool]) -> Progress:
        """Look at what is not done, do what can be done of it, and return how far it is."""
        one = self.imports.get(batch.import_id)
        if batch.status != "open" or one is None:
            return self._progress(batch, one, batch.settled.values())
        if one.phase == "check" and one.state != "canceled":
            if one.state == "failed":
                batch = self._refused(batch, one)
            return self._progress(batch, one, batch.settled.values())
        done: dict[str, Settled] = dict(batch.settled)
        known = list(done.values())
        is_full = _is_final(one, self.clock.now())
        for block in range(batch.blocks):
            if str(block) in done:
                continue
            if not has_time():
                break
            rows = self._rows(caller, batch, block)
            ended = [row for row in rows if row.has_ended]
            known.append(_sum(_counted(row) for row in ended))
            if len(ended) == len(rows) and (is_full or len(rows) == len(batch.lines_in(block))):
                done[str(block)] = self._write(batch, block, rows)
        if len(done) > len(batch.settled):
            batch = self.batches.change(batch, {"settled": _stored(done)}) or batch
        if len(done) == batch.blocks and has_time():
            batch = self._close(batch, one, done)
        return self._progress(batch, one, known)

    def cancel(self, caller: Caller, batch: Batch, *, has_time: Callable[[], bool]) -> Progress:
        """Stop a batch: its import at once, its rows as each of them is canceled."""
        if batch.cancel_requested_at is None:
            asked = {"cancel_requested_at": self.clock.now()}
            batch = self.batches.change(batch, asked) or batch
        one = self.imports.get(batch.import_id)
        while one is not None and not one.has_ended:
            ended = {"state": "canceled", "completed_at": self.clock.now()}
            self.imports.end(one, ended)
            one = self.imports.get(batch.import_id)
        return self.advance(caller, batch, has_time=has_time)

    def _rows(self, caller: Caller, batch: Batch, block: int) -> Sequence[Row]:
        """Return a block's rows in order, as far as they are there; cancel them if asked to."""
        ids = [
            derived_id("llm", batch.organization_id, batch.import_id, str(line))
            for line in batch.lines_in(block)
        ]
        found = self.rows.get_many(ids)
        if batch.cancel_requested_at is not None:
            wanted = [
                row.id
                for row in found.values()
                if row.status == "queued" or not (row.has_ended or row.cancel_requested_at)
            ]

            def cancel(row_id: str) -> None:
                self.ledger.cancel(caller, row_id)

            in_parallel(cancel, wanted, at_most=_CANCELERS)
            found = self.rows.get_many(ids) if wanted else found
        return [found[row_id] for row_id in ids if row_id in found]

    def _write(self, batch: Batch, block: int, rows: Sequence[Row]) -> Settled:
        """Store what a block's rows came to, and return how many they are."""
        parts: dict[Kind, list[str]] = {"output": [], "errors": []}
        for request in self.records.with_texts(rows):
            result = openai_result(request)
            error = result["error"]
            if error is not None:
                result["error"] = {**error, "code": _CODES.get(error["code"], error["code"])}
            parts["output" if error is None else "errors"].append(_line(result))
        for kind, lines in parts.items():
            if lines:
                self.objects.put_part(batch, kind, block, "".join(lines).encode())
        return _sum(_counted(row) for row in rows)

    def _close(self, batch: Batch, one: Import, done: Mapping[str, Settled]) -> Batch:
        """Make files of all parts, and end the batch."""
        _, others, expired, *_ = _sum(done.values())
        status: BatchStatus = "completed"
        if batch.cancel_requested_at is not None or one.state == "canceled":
            status = "cancelled"
        elif one.state == "failed":
            status = "failed"
        elif others and expired:
            status = "expired"
        outputs, errors = _blocks(done, place=0), _blocks(done, place=1)
        try:
            made = {
                "output_bytes": self._join(batch, "output", batch.output_file_id, outputs),
                "error_bytes": self._join(batch, "errors", batch.error_file_id, errors),
            }
        except PartGoneError:
            return self._again(batch)
        named = _problems(one) if status == "failed" else []
        ended = self._ended(batch, status, {**made, "errors": named})
        self.objects.delete_parts(batch, "output", outputs)
        self.objects.delete_parts(batch, "errors", errors)
        return ended

    def _join(self, batch: Batch, kind: Kind, file_id: str, blocks: Sequence[int]) -> int:
        if not blocks:
            return 0
        size = self.objects.join(batch, kind, blocks, file_id)
        self.files.add(
            File(
                id=file_id,
                organization_id=batch.organization_id,
                connection_id=batch.connection_id,
                filename=f"{batch.id}_{kind}.jsonl",
                purpose="batch_output",
                bytes=size,
                created_at=self.clock.now(),
                kept_seconds=batch.output_seconds,
            )
        )
        return size

    def _refused(self, batch: Batch, one: Import) -> Batch:
        return self._ended(batch, "failed", {"errors": _problems(one)})

    def _ended(self, batch: Batch, status: BatchStatus, changes: Mapping[str, Any]) -> Batch:
        changed = {**changes, "status": status, "ended_at": self.clock.now()}
        after = self.batches.change(batch, changed)
        return after or self._again(batch)

    def _again(self, batch: Batch) -> Batch:
        """Return a batch that another request has ended meanwhile, and in the same way."""
        return self.batches.find(
            batch.organization_id, batch.connection_id, batch.id, self.clock.now()
        )

    @staticmethod
    def _progress(batch: Batch, one: Import | None, counts: Any) -> Progress:
        return Progress(
            batch=batch,
            status=_status(batch, one),
            counts=_sum(counts),
            in_progress_at=one.started_at if one is not None and one.phase == "enqueue" else None,
        )


def _status(batch: Batch, one: Import | None) -> Status:
    if batch.status != "open":
        return batch.status
    if batch.cancel_requested_at is not None:
        return "cancelling"
    if one is not None and one.phase == "check":
        return "validating"
    return "finalizing" if len(batch.settled) == batch.blocks else "in_progress"


def _is_final(one: Import, now: datetime) -> bool:
    """Return whether an import enqueues nothing any more, so that what is missing stays away."""
    return one.has_ended and (one.completed_at is None or one.completed_at + _LATE_ROWS <= now)


def _counted(row: Row) -> Settled:
    used = row.usage
    return (
        int(row.status == "completed"),
        int(row.status != "completed"),
        int(row.error is not None and row.error.code in _EXPIRED),
        used.input_tokens if used else 0,
        used.cached_input_tokens if used else 0,
        used.output_tokens if used else 0,
        used.reasoning_tokens if used else 0,
    )


def _sum(counts: Any) -> Settled:
    total = [sum(column) for column in zip(_NOTHING, *counts, strict=True)]
    return (total[0], total[1], total[2], total[3], total[4], total[5], total[6])


def _blocks(done: Mapping[str, Settled], *, place: int) -> list[int]:
    return sorted(int(block) for block, counts in done.items() if counts[place])


def _stored(done: Mapping[str, Settled]) -> dict[str, list[int]]:
    return {block: list(counts) for block, counts in done.items()}


def _problems(one: Import) -> list[dict[str, str | int | None]]:
    """Return why an import failed: by line, and how many lines there are besides."""
    found: list[dict[str, str | int | None]] = [
        {
            "code": "invalid_line",
            "line": error.line,
            "message": error.message,
            "param": error.field,
        }
        for error in one.errors
    ]
    more = one.rejected - len(found)
    if more > 0 or not found:
        message = f"and {more} more lines" if more > 0 else "the requests cannot be asked"
        code = one.error_code or "platform_error"
        found.append({"code": code, "line": None, "message": message, "param": None})
    return [{name: value for name, value in one.items() if value is not None} for one in found]


def _line(result: Mapping[str, Any]) -> str:
    return compact(result) + "\n"
