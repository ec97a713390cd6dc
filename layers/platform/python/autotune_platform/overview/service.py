"""One page of what happens in an organisation, from counters and indexes: no table is scanned.

It takes a number of reads that does not grow with what there is: the pages of a window, the count
of open completions, a page of each shard of the index of open batches, the batches found there, the
organisation's graders, their circuits, and the budget.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice

from cachetools import TTLCache

from autotune.protocol.llm_batches import LlmBudgetUse
from autotune.protocol.overview import (
    OpenCircuit,
    OpenWork,
    OverdueBatch,
    Overview,
    StuckWork,
)
from autotune.protocol.windows import Window
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.budgets.uses import MoneyUses
from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.open_counts import OpenCounts
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.projections.window_figures import WindowStatistics
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.due_index import Soonest

MOST_BATCHES = 500
"""Most open batches that are looked at, those that are due soonest."""
MOST_GRADERS = 200
"""Most graders whose circuits are looked at, the oldest."""
MOST_STUCK = 20

# All organisations' open batches lie in the same partitions, which sweeps read as well: whoever
# reloads the overview all the time is not to use up what these can be read.
_READ_OF_A_LONG_LOOK = 500
_LONG_LOOK_HOLDS_SECONDS = 10
_KEPT_BATCHES = 50_000


def _long_looks() -> "TTLCache[str, Soonest]":
    return TTLCache(_KEPT_BATCHES, _LONG_LOOK_HOLDS_SECONDS, getsizeof=lambda one: len(one.due) + 1)


@part
class OverviewService:
    """Reads what others counted and stored."""

    windows: WindowStatistics
    open_counts: OpenCounts
    open_batches: OpenBatches
    graders: GraderDirectory
    circuits: BudgetStates
    money: MoneyUses
    clock: Clock = SYSTEM_CLOCK
    _looked: "TTLCache[str, Soonest]" = field(default_factory=_long_looks, init=False)

    def overview(self, organization_id: str, window: Window) -> Overview:
        """Return the overview of an organisation."""
        found = self.windows.of_organization(organization_id, window)
        due, is_complete, _ = self._soonest(organization_id)
        batches = self.open_batches.find_many(islice(due, MOST_BATCHES))
        is_complete = is_complete and len(due) <= MOST_BATCHES
        return Overview(
            window=window,
            from_=found.buckets[0].start,
            to=found.to,
            bucket_seconds=found.bucket_seconds,
            buckets=found.buckets,
            totals=found.totals,
            is_complete=found.is_complete,
            open=OpenWork(
                completions=max(0, self.open_counts.counted(organization_id)),
                batches=len(due),
                oldest_submitted_at=min((one.created_at for one in batches.values()), default=None),
                is_complete=is_complete,
            ),
            circuits=self._circuits(organization_id),
            stuck=self._stuck(due, batches, is_complete=is_complete),
            budgets=[
                LlmBudgetUse(
                    period=use.period,
                    name=use.name,
                    limit_nano_usd=use.limit,
                    spent_nano_usd=use.spent,
                    reserved_nano_usd=use.reserved,
                )
                for use in self.money.uses(organization_id)
            ],
        )

    def _soonest(self, organization_id: str) -> Soonest:
        """Return when open batches are due, as it was ten seconds ago where many are read."""
        known = self._looked.get(organization_id)
        if known is not None:
            return known
        found = self.open_batches.soonest_of(organization_id)
        if found.read >= _READ_OF_A_LONG_LOOK:
            self._looked[organization_id] = found
        return found

    def _stuck(
        self, due: Mapping[str, datetime], batches: Mapping[str, Batch], *, is_complete: bool
    ) -> StuckWork:
        now = self.clock.now()
        overdue = [id_ for id_, due_at in due.items() if due_at <= now]
        return StuckWork(
            total=len(overdue),
            batches=[
                OverdueBatch(
                    batch_id=id_,
                    submitted_at=batches[id_].created_at,
                    due_at=due[id_],
                    sweeps=batches[id_].sweeps,
                )
                for id_ in overdue[:MOST_STUCK]
                if id_ in batches
            ],
            is_complete=is_complete,
        )

    def _circuits(self, organization_id: str) -> list[OpenCircuit]:
        """Return the circuits of the organisation's graders that are not closed."""
        now = self.clock.unix()
        graders = self.graders.owned(organization_id, limit=MOST_GRADERS)
        names = {grader.id: grader.name for grader in graders if grader.is_called}
        found = self.circuits.circuits(names)
        return [
            OpenCircuit(
                grader_id=id_,
                name=names[id_],
                state=phase,
                open_until=_moment(circuit.open_until) if phase == "open" else None,
                last_failed_at=_moment(circuit.failed_at),
                reason_code=circuit.reason_code,
            )
            for id_, circuit in sorted(found.items())
            if (phase := circuit.phase(now)) != "closed"
        ]


def _moment(unix: float) -> datetime | None:
    return datetime.fromtimestamp(unix, UTC) if unix else None
