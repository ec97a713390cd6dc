"""Which rows of a queue go into its next batch: the first ones that fit, and that are still wanted.

As many as the budget has room for, as may share a job, and as the job may be long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.ending import end_unasked
from autotune_platform.ledger.job_limits import enqueued_tokens
from autotune_platform.ledger.jobs.registry import bytes_at_most
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
        amount: what they cost at most together.
        tokens: how many tokens of input they count as.
    """

    bytes_left: int | None
    most_tokens: int | None = None
    ids: list[str] = field(default_factory=list)
    amount: int = 0
    tokens: int = 0
    together: int | None = None
    is_short_of_money: bool = False

    def add(self, row: Row, room: int | None) -> bool:
        """Add a row; return False where no more can be added."""
        if room is not None and self.amount + row.bound_nano_usd > room:
            self.is_short_of_money = True
            return False
        if self.together is not None and len(self.ids) >= self.together:
            return False
        if row.together is not None and len(self.ids) >= row.together:
            return True  # it may not share a batch with as many; the next one is soon made
        tokens = enqueued_tokens(row.input_bytes, row.messages)
        if self.most_tokens is not None and self.tokens + tokens > self.most_tokens:
            return False
        if self.bytes_left is not None:
            self.bytes_left -= row.input_bytes
            if self.bytes_left < 0 and self.ids:
                return False
        self.ids.append(row.id)
        self.amount += row.bound_nano_usd
        self.tokens += tokens
        self.together = min(filter(None, (self.together, row.together)), default=None)
        return True


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
        chosen = Chosen(bytes_at_most(connection) if is_job else None, most_tokens)
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
        return chosen
