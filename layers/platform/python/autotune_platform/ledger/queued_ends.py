"""Ending rows that wait in their queue: a row and the count of what is under way, in one write.

A row in a batch is counted off when its batch is settled; one in its queue has no batch that could.
Two writes would leave the count too high for good where a process is killed between them. As many
rows as are ended at once share one transaction and one write of the count.

Ceiling: the count is one item of an organisation, which takes some hundred transactions a second.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.attempts import Fault
from autotune_platform.ledger.claims import Amount, ClaimRepository
from autotune_platform.ledger.ending import MESSAGES, status_of
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

ROWS_AT_ONCE = 25
"""Rows of one transaction: whoever takes one of them in between has all of them tried again."""

TOO_DEAR_NOW = "in a call of its own it may cost more than was set aside for it"
"""Why a row of a job ends that would be asked by itself, at a price that rose since."""

_ATTEMPTS = 8


@dataclass(frozen=True)
class QueuedEnd:
    """A queued row as it was read, and why it ends; without a message, the code's own."""

    row: Row
    code: LlmErrorCode
    message: str | None = None


@part
class QueuedEnds:
    """Ends rows that were never asked, or whose attempts are over."""

    rows: RowRepository
    claims: ClaimRepository
    clock: Clock = SYSTEM_CLOCK

    def end(self, row: Row, code: LlmErrorCode) -> bool:
        """End a row; False where it had left its queue.

        Raises:
            UnavailableError: others kept writing the row or its organisation's count.
        """
        return bool(self.end_all([QueuedEnd(row, code)]))

    def end_all(self, ends: Iterable[QueuedEnd]) -> set[str]:
        """End rows; return the ids of those that had not left their queue.

        Raises:
            UnavailableError: others kept writing the rows or their organisation's count; some may
                have ended.
        """
        distinct = {one.row.id: one for one in ends}
        ended: set[str] = set()
        for some in groups(distinct.values(), ROWS_AT_ONCE):
            ended |= self._end(some)
        return ended

    def _end(self, ends: Sequence[QueuedEnd]) -> set[str]:
        left = ends
        for _ in BUSY.attempts(_ATTEMPTS):
            if not left or self._write(left):
                return {one.row.id for one in left}
            found = self.rows.get_many(one.row.id for one in left)
            left = [one for one in left if _is_as_read(one.row, found.get(one.row.id))]
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def _write(self, ends: Sequence[QueuedEnd]) -> bool:
        now = self.clock.now()
        changed = []
        for one in ends:
            error = Fault(code=one.code, message=one.message or MESSAGES[one.code])
            changed.append(self.rows.ending(one.row, status_of(one.code), error, now))
        owners = {one.row.organization_id for one in ends}
        counted = [
            less
            for owner in sorted(owners)
            for less in self.claims.fewer(
                owner, Amount.of(one.row for one in ends if one.row.organization_id == owner)
            )
        ]
        return self.rows.write_together([*changed, *counted])


def _is_as_read(row: Row, present: Row | None) -> bool:
    if present is None:
        return False
    return (present.status, present.attempt) == (row.status, row.attempt)
