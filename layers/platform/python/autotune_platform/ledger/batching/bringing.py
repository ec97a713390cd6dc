"""Bringing results home: what was fetched is stored row by row, each once.

A line is a row's if the row is in this batch, in this attempt, and has no end. All others are
counted and dropped. What no line was of, is decided by what the provider says of its counts.
"""

from collections.abc import Callable, Mapping
from typing import Final

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batch_rows import BatchRows, portions
from autotune_platform.ledger.batching.custom_ids import row_of
from autotune_platform.ledger.batching.fetching import end_of, result_name
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.guarding import (
    KILLED,
    MOST_KILLERS,
    READ,
    RESERVED_SECONDS,
    is_careful,
    is_killer,
    key_of,
    named_in,
)
from autotune_platform.ledger.batching.stepping import (
    Advanced,
    Desk,
    state_of,
)
from autotune_platform.ledger.calls import Answer, Outcome, Refusal
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.job_states import JobEnd
from autotune_platform.ledger.models import Batch, Connection, Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import jittered
from autotune_platform.runtime.threads import in_parallel

logger = Logger()

CHECKPOINT_ROWS: Final = 500
"""Most rows that are stored between two notes of how far that is."""

CHECKPOINT_BYTES: Final = 16_000_000
"""Most bytes of results and of questions that are in memory at once, but for a single row's."""

CHECKPOINT_LINES: Final = 100_000
"""Most lines that are read between two notes, those of nobody included."""

_WRITERS = 8
_SPARE_SECONDS = 30

_Named = tuple[str, int]
"""A row's id, and the attempt that a line is of."""


@part
class JobResults:
    """Stores results with their rows."""

    desk: Desk
    rows: RowRepository
    texts: RowTexts
    ends: RowEnds
    remaining: BatchRows
    files: JobFiles
    clock: Clock = SYSTEM_CLOCK

    def ingest(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Store rows' results until all are, or there is no more time."""
        state = state_of(batch)
        while state.source < len(state.sizes):
            if state.killers >= MOST_KILLERS:
                logger.error("results given up", batch_id=batch.id, killers=state.killers)
                self.remaining.refuse(batch, KILLED, more_attempts=False)
                return Advanced(self.desk.store(batch, phase="cleaning", job={"tries": 0, **READ}))
            spare = RESERVED_SECONDS if is_careful(state) else _SPARE_SECONDS
            if seconds_left() < spare:
                return Advanced(batch, 1)
            if state.offset >= state.sizes[state.source]:
                batch = self.desk.store(batch, job={"source": state.source + 1, "offset": 0})
            elif is_careful(state):
                batch = self._ingest_each(batch, connection, seconds_left)
            else:
                batch = self._ingest_some(batch, connection)
            state = state_of(batch)
        return self._finish(batch, connection)

    def _ingest_each(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Batch:
        """Store the next rows line by line, each noted before it is read."""
        begun = at = state_of(batch).offset
        source, size = state_of(batch).source, state_of(batch).sizes[state_of(batch).source]
        rows = 0
        for count, (place, raw) in enumerate(
            self.files.lines(batch.id, result_name(source), begun), 1
        ):
            is_hopeless = state_of(batch).killers >= MOST_KILLERS
            if is_hopeless or seconds_left() < RESERVED_SECONDS:
                return batch
            if raw is None or raw.strip():
                batch = self._ingest_one(batch, connection, raw, at, place)
                rows += 1
            at = place
            if (
                rows >= CHECKPOINT_ROWS
                or count >= CHECKPOINT_LINES
                or place - begun >= CHECKPOINT_BYTES
            ):
                break
        else:
            at = size
        # As many were read as those steps read together that were lost.
        return self.desk.store(batch, job={"offset": at, **READ})

    def _ingest_one(
        self, batch: Batch, connection: Connection, raw: bytes | None, at: int, place: int
    ) -> Batch:
        """Store what a line says, or that steps are killed at it, and that it is read."""
        state = state_of(batch)
        key = key_of(state, at)
        if is_killer(state, key):
            named = named_in(raw or b"")
            found: dict[_Named, Outcome] = {} if named is None else {named: KILLED}
            logger.error("line is not read", batch_id=batch.id, line=key, row=named and named[0])
        else:
            batch = self.desk.store(batch, job={"at_hand": key})
            line = (
                self.desk.provider(batch).line(raw, self._key(batch, connection)) if raw else None
            )
            named = row_of(line.custom_id) if line else None
            found = {named: line.outcome} if line and named else {}
        others = self._store_all(batch, connection, found)
        left = {other: kills for other, kills in state.suspects.items() if other != key}
        noted = {
            "at_hand": None,
            "suspects": left,
            "killers": state.killers + is_killer(state, key),
            "offset": place,
            "strange": state.strange + (others if found else 1),
            "stored": state.stored + len(found) - others,
        }
        return self.desk.store(batch, job=noted)

    def _key(self, batch: Batch, connection: Connection) -> str | None:
        return self.desk.session(connection, batch).key

    def _ingest_some(self, batch: Batch, connection: Connection) -> Batch:
        """Store the next rows of the present results, and note how far that is."""
        state = state_of(batch)
        key = self._key(batch, connection)
        provider = self.desk.provider(batch)
        found: dict[_Named, Outcome] = {}
        offset, strange, count = state.offset, 0, 0
        begun = offset
        for place, raw in self.files.lines(batch.id, result_name(state.source), offset):
            offset, count = place, count + 1
            line = provider.line(raw, key) if raw and raw.strip() else None
            named = row_of(line.custom_id) if line else None
            if line is None or named is None:
                strange += bool(raw is None or raw.strip())
            elif named in found:
                strange += 1
            else:
                found[named] = line.outcome
            if (
                len(found) >= CHECKPOINT_ROWS
                or count >= CHECKPOINT_LINES
                or offset - begun >= CHECKPOINT_BYTES
            ):
                break
        else:
            offset = state.sizes[state.source]
        others = self._store_all(batch, connection, found)
        noted = {
            "offset": offset,
            "strange": state.strange + strange + others,
            "stored": state.stored + len(found) - others,
            "lost_steps": 0,
        }
        return self.desk.store(batch, job=noted)

    def _store_all(
        self, batch: Batch, connection: Connection, found: Mapping[_Named, Outcome]
    ) -> int:
        """Store what came of rows; return how many lines were of no row of the batch."""
        rows = self.rows.get_many(row_id for row_id, _ in found)
        # A line of another attempt, such as another job's, is of no row of this batch.
        own = [
            row
            for row_id, attempt in found
            if (row := rows.get(row_id)) is not None
            and row.is_pending_in(batch.id)
            and row.attempt == attempt
        ]
        for some in portions(own, most_bytes=CHECKPOINT_BYTES):
            texts = self.texts.inputs(row.id for row in some)

            def store(row: Row, texts: Mapping[str, RowInput] = texts) -> None:
                self._store(batch, connection, row, texts.get(row.id), found[row.id, row.attempt])

            in_parallel(store, some, at_most=_WRITERS)
        return len(found) - len(own)

    def _store(
        self,
        batch: Batch,
        connection: Connection,
        row: Row,
        text: RowInput | None,
        outcome: Outcome,
    ) -> None:
        version = state_of(batch).key_version
        if isinstance(outcome, Answer):
            # What it asks was erased in the meantime: nothing of the answer is kept either.
            self.ends.answered(row, text, outcome, key_version=version)
            return
        is_unwanted = batch.cancel_requested_at or row.cancel_requested_at
        if outcome.code == "canceled" or (is_unwanted and outcome.code == "batch_expired"):
            if is_unwanted:
                self.ends.unasked(row, "canceled")
            else:
                self.ends.put_back(row)
        elif outcome.code == "account":
            if self.desk.has_newest_key(connection, batch):
                self.desk.pause(connection, outcome)
            self.ends.put_back(row)
        else:
            more_attempts = not is_unwanted and outcome is not KILLED
            self.ends.refused(row, outcome, more_attempts=more_attempts, key_version=version)

    def _finish(self, batch: Batch, connection: Connection) -> Advanced:
        """Decide what becomes of rows that no line was of."""
        state, end = state_of(batch), end_of(batch)
        # Each row is stored once, so that no row is missing where as many are as were sent.
        if state.stored < state.rows and next(self.remaining.pending(batch), None) is not None:
            answered = self._answered(batch)
            is_short = end.succeeded is not None and answered < end.succeeded
            is_early = self.clock.now() < end.seen_at + connection.timings.results_within
            if is_short and is_early and not state.is_too_large:
                # Results may come in parts, as OpenAI's two files do.
                again = self.desk.store(batch, phase="polling", job={"tries": 0})
                return Advanced(again, jittered(connection.timings.poll_least_seconds))
            # Where nothing is said of how many were answered, each may have been, unless the job
            # expired: its own word is then that it came to none of these rows.
            is_paid = is_short or (end.succeeded is None and end.how != "expired")
            self._end_missing(batch, end, is_paid=is_paid)
        if state.strange:
            logger.warning("results of nobody", batch_id=batch.id, lines=state.strange)
        return Advanced(self.desk.store(batch, phase="cleaning", job={"tries": 0}))

    def _end_missing(self, batch: Batch, end: JobEnd, *, is_paid: bool) -> None:
        is_unwanted = batch.cancel_requested_at is not None
        if end.how == "canceled" and not is_paid:
            if is_unwanted:
                self.remaining.end_unasked(batch, "canceled")
            else:
                self.remaining.put_back(batch)
            return
        refusal = (
            Refusal("result_missing", "the job ended without this row's result", None, is_paid)
            if end.how == "completed" or is_paid
            else Refusal("batch_expired", "the provider's job expired before this row")
        )
        self.remaining.refuse(batch, refusal, more_attempts=not is_unwanted)

    def _answered(self, batch: Batch) -> int:
        """Return how many rows of a batch were answered in it, as far as its results say."""
        return sum(
            row.batch_id == batch.id and row.status == "completed"
            for row in self.remaining.all(batch)
        )
