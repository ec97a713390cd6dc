"""Which rows of a queue go into its next batch: the first ones that fit, and that are still wanted.

As many as the budget has room for, as may share a job, and as the job may be long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autotune_platform.ledger.job_limits import enqueued_tokens
from autotune_platform.ledger.job_sizes import bytes_at_most, rows_at_most
from autotune_platform.ledger.models import Connection, Group, Row
from autotune_platform.ledger.queued_ends import QueuedEnd, QueuedEnds
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

ROWS_KEPT = 10_000
"""Most rows that are in memory at once: some 50 MB."""

_ROWS_READ = 1_000


@dataclass
class Chosen:
    """Rows for a batch, by id.

    Attributes:
        most: how many there may be.
        rows: the first of them as they were read, as many as there is memory for.
        amount: what they cost at most together.
        tokens: how many tokens of input they count as.
        halved_of: the batch that was halved first, whose rows alone they are.
        is_cut: others were left over that another batch may have at once.
        is_short_of_money: others were left over that the budget has no room for.
    """

    most: int
    bytes_left: int | None
    most_tokens: int | None = None
    ids: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    amount: int = 0
    tokens: int = 0
    together: int | None = None
    halved_of: str | None = None
    is_cut: bool = False
    is_short_of_money: bool = False

    def add(self, row: Row, room: int | None) -> bool:
        """Add a row; return False where no more can be added."""
        if self.ids and row.halved_of != self.halved_of:
            self.is_cut = True
            return True  # what is refused with a batch's other half is no word on a row of others
        tokens = enqueued_tokens(row.input_bytes, row.messages)
        if self._is_full(row, tokens):
            self.is_cut = True
            return False
        if room is not None and self.amount + row.bound_nano_usd > room:
            self.is_short_of_money = True
            return False
        if row.together is not None and len(self.ids) >= row.together:
            self.is_cut = True
            return True  # it may not share a batch with as many; the next one is soon made
        if self.bytes_left is not None:
            self.bytes_left -= row.input_bytes
        self.halved_of = row.halved_of
        self.ids.append(row.id)
        if len(self.rows) < ROWS_KEPT:
            self.rows.append(row)
        self.amount += row.bound_nano_usd
        self.tokens += tokens
        self.together = min(filter(None, (self.together, row.together)), default=None)
        return True

    def _is_full(self, row: Row, tokens: int) -> bool:
        """Return whether the batch has no room for a row; a first one fits, however long it is."""
        if len(self.ids) >= min(filter(None, (self.most, self.together))):
            return True
        if self.most_tokens is not None and self.tokens + tokens > self.most_tokens:
            return True
        is_too_long = self.bytes_left is not None and row.input_bytes > self.bytes_left
        return bool(self.ids) and is_too_long


@part
class RowChoosing:
    """Chooses rows, and ends those that no batch can have."""

    rows: RowRepository
    ends: QueuedEnds
    clock: Clock = SYSTEM_CLOCK

    def choose(
        self, ids: Sequence[str], connection: Connection, group: Group, room: int | None
    ) -> Chosen:
        """Return the first rows that are still queued and fit into one batch, and the budget."""
        is_job = group.mode == "job"
        most_tokens = connection.limits.enqueued_tokens.get(group.model) if is_job else None
        most = rows_at_most(connection, group.mode)
        chosen = Chosen(most, bytes_at_most(connection) if is_job else None, most_tokens)
        unfit: list[QueuedEnd] = []
        is_full = self._fill(chosen, unfit, ids, room)
        self.ends.end_all(unfit)
        # Behind what was read there are more.
        chosen.is_cut = chosen.is_cut or (not is_full and len(ids) > most)
        return chosen

    def _fill(
        self, chosen: Chosen, unfit: list[QueuedEnd], ids: Sequence[str], room: int | None
    ) -> bool:
        """Add rows until no more can be added; return whether that is so."""
        now = self.clock.now()
        for some in groups(ids, _ROWS_READ):
            found = self.rows.get_many(some)
            for row_id in some:
                row = found.get(row_id)
                if row is None or row.status != "queued":
                    continue
                if (end := _end_of(row, now, chosen.most_tokens)) is not None:
                    unfit.append(end)
                elif not chosen.add(row, room):
                    return True
        return False


def _end_of(row: Row, now: datetime, most_tokens: int | None) -> QueuedEnd | None:
    """Return the end of a row that no batch can have; None where one can."""
    if row.complete_by is not None and row.complete_by <= now:
        return QueuedEnd(row, "expired")
    tokens = enqueued_tokens(row.input_bytes, row.messages)
    if most_tokens is not None and tokens > most_tokens:
        # The limit was lowered after it was enqueued.
        why = f"it counts as {tokens} tokens of limits.enqueuedTokens, {most_tokens}"
        return QueuedEnd(row, "unsupported_in_batch", why)
    return None
