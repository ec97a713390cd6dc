"""Lists of an organisation's batches by filter.

Only time is in the index. What else a filter says is compared with the batches themselves, so one
page looks at a bounded number of them, as lists of rows do.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from autotune.protocol.llm_filters import LlmBatchFilter
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.comparing import is_charged_otherwise
from autotune_platform.ledger.models import Batch
from autotune_platform.ledger.row_lists import MOST_LOOKED_AT, MOST_SECONDS
from autotune_platform.ledger.unclear import needs_operator
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor
from autotune_platform.storage.item_format import moment

_AT_A_TIME = 100
_POSITIONS_AT_A_TIME = 200
_FIRST, _LAST = "0", "~"
_COMPARED = ("status", "connection_id", "model")


@part
class BatchLists:
    """Reads pages of an organisation's batches that a filter matches, the youngest first."""

    batches: BatchRepository
    clock: Clock = SYSTEM_CLOCK

    def page(
        self,
        organization_id: str,
        wanted: LlmBatchFilter,
        *,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Batch], str | None]:
        """Return a page; it may be short, even empty, while its token says that there is more.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        after, before = wanted.created_after, wanted.created_before
        highest = _LAST if before is None else moment(before)
        if next_token is not None:
            highest = min(highest, decode_cursor(next_token, parts=1)[0])
        lowest = _FIRST if after is None else moment(after)
        if highest <= lowest:
            return [], None
        holds = self._conditions(wanted)
        # Behind the last batch of a page there is one more, which says that it is not the last.
        ahead = max(limit + 1, _POSITIONS_AT_A_TIME) if holds else limit + 1
        positions = self.batches.listed(
            organization_id, lowest=lowest, below=highest, at_a_time=ahead
        )
        found: list[Batch] = []
        looked = 0
        until = self.clock.monotonic() + MOST_SECONDS
        while some := list(islice(positions, _AT_A_TIME if holds else limit)):
            batches = self.batches.get_many(batch_id for _, batch_id in some)
            looked += len(some)
            for number, (position, batch_id) in enumerate(some, start=1):
                batch = batches.get(batch_id)
                if batch is None or not all(condition(batch) for condition in holds):
                    continue
                found.append(batch)
                if len(found) == limit:
                    is_last = number == len(some) and next(positions, None) is None
                    return found, None if is_last else encode_cursor(position)
            if looked >= MOST_LOOKED_AT or self.clock.monotonic() >= until:
                return found, encode_cursor(some[-1][0])
        return found, None

    def _conditions(self, wanted: LlmBatchFilter) -> Sequence[Callable[[Batch], bool]]:
        now = self.clock.now()
        where = {name: getattr(wanted, name) for name in _COMPARED if getattr(wanted, name)}
        found: list[Callable[[Batch], bool]] = []
        if where:
            found.append(lambda batch: _has(batch, where))
        if wanted.needs_operator:
            found.append(lambda batch: needs_operator(batch, now))
        if wanted.differs:
            found.append(is_charged_otherwise)
        return found


def _has(batch: Batch, where: Mapping[str, str]) -> bool:
    return all(getattr(batch, name) == value for name, value in where.items())
