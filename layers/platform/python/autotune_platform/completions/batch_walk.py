"""Lists of an organisation's batches, the youngest first.

Only time is in the index. What else is asked for is compared with the batches themselves, so one
page looks at a bounded number of them (ADR 0048).
"""

from collections.abc import Sequence
from itertools import islice

from autotune.protocol.batches import BatchState
from autotune_platform.completions.batch_index import BATCH_LANES, LAST, BatchIndex
from autotune_platform.completions.models import Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor

MOST_LOOKED_AT = 2_000
"""Batches that one page looks at before it is short."""
MOST_SECONDS = 5
"""For how long it does so; what has begun by then is done."""

_KIND = "batches"
_AT_A_TIME = 100
_POSITIONS_AT_A_TIME = 200


@part
class BatchWalk:
    """Reads pages of an organisation's accepted batches."""

    index: BatchIndex
    repository: CompletionRepository
    clock: Clock = SYSTEM_CLOCK

    def page(
        self,
        organization_id: str,
        *,
        state: BatchState | None,
        task_id: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Batch], str | None]:
        """Return a page; it may be short, even empty, while its token says that there is more.

        Args:
            state: only those that are still looked after, or only those that are not.
            task_id: only those with a completion of this task.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        below = LAST
        if next_token is not None:
            kind, below = decode_cursor(next_token, parts=2)
            if kind != _KIND or not below[:1].isdigit():
                raise invalid_cursor()
        is_narrow = state is not None or task_id is not None
        # Lanes are about equally full; behind the last batch there is one that says it is not.
        ahead = _POSITIONS_AT_A_TIME if is_narrow else limit + 1
        positions = self.index.newest(
            organization_id, below=below, at_a_time=max(ahead // (BATCH_LANES // 2), 1)
        )
        found: list[Batch] = []
        looked = 0
        until = self.clock.monotonic() + MOST_SECONDS
        while some := list(islice(positions, _AT_A_TIME if is_narrow else limit - len(found))):
            batches = self.repository.get_batches(batch_id for _, batch_id in some)
            looked += len(some)
            for number, (position, batch_id) in enumerate(some, start=1):
                batch = batches.get(batch_id)
                if batch is None or not _holds(batch, state, task_id):
                    continue
                found.append(batch)
                if len(found) == limit:
                    is_last = number == len(some) and next(positions, None) is None
                    return found, None if is_last else encode_cursor(_KIND, position)
            if looked >= MOST_LOOKED_AT or self.clock.monotonic() >= until:
                return found, encode_cursor(_KIND, some[-1][0])
        return found, None


def _holds(batch: Batch, state: BatchState | None, task_id: str | None) -> bool:
    # One that is not accepted is nobody's yet: its caller submits it again, or gives it up.
    return (
        batch.status == "accepted"
        and (state is None or batch.is_open == (state == "open"))
        and (task_id is None or any(one.task_id == task_id for one in batch.segments))
    )
