"""Which rows of a queue go into its next batch: the first ones that fit, and that are still wanted.

As many as the budget has room for, as may share a job, and as the job may be long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.ending import end_unasked
from autotune_platform.ledger.job_limits import enqueued_tokens
from autotune_platform.ledger.jobs.registry import bytes_at_most, rows_at_most
from autotune_platform.ledger.models import Connection, Group, Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

_ROWS_READ = 1_000


@dataclass
class Chosen:
    """Rows for a batch, by id.

    Attributes:
        most: how many there may be.
        amount: what they cost at most together.
        tokens: how many tokens of input they count as.
        is_cut: others were left over that another batch may have at once.
        is_short_of_money: others were left over that the budget has no room for.
    """

    most: int
    bytes_left: int | None
    most_tokens: int | None = None
    ids: list[str] = field(default_factory=list)
    amount: int = 0
    tokens: int = 0
    together: int | None = None
    is_cut: bool = False
    is_short_of_money: bool = False

    def add(self, row: Row, room: int | None) -> bool:
        """Add a row; return False where no more can be added."""
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
        self.ids.append(row.id)
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
    claims: ClaimRepository
    clock: Clock = SYSTEM_CLOCK

    def choose(
        self, ids: Sequence[str], connection: Connection, group: Group, room: int | None
    ) -> Chosen:
        """Return the first rows that are still queued and fit into one batch, and the budget."""
        is_job = group.mode == "job"
        most_tokens = connection.limits.enqueued_tokens.get(group.model) if is_job else None
        most = rows_at_most(connection, group.mode)
        chosen = Chosen(most, bytes_at_most(connection) if is_job else None, most_tokens)
        now = self.clock.now()
        for some in groups(ids, _ROWS_READ):
            found = self.rows.get_many(some)
            for row_id in some:
                row = found.get(row_id)
                if row is None or row.status != "queued":
                    continue
                tokens = enqueued_tokens(row.input_bytes, row.messages)
                if row.complete_by is not None and row.complete_by <= now:
                    end_unasked(self.rows, self.claims, row, "expired", now)
                elif most_tokens is not None and tokens > most_tokens:
                    # The limit was lowered after it was enqueued.
                    why = f"it counts as {tokens} tokens of limits.enqueuedTokens, {most_tokens}"
                    end_unasked(
                        self.rows, self.claims, row, "unsupported_in_batch", now, message=why
                    )
                elif not chosen.add(row, room):
                    return chosen
        # Behind what was read there are more.
        chosen.is_cut = chosen.is_cut or len(ids) > most
        return chosen
