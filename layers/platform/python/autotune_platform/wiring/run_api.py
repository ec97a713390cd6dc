"""Parts that show, explain and cancel runs."""

from functools import cached_property

from autotune_platform.judging.rubric.waiting import RowWaits
from autotune_platform.ledger.ordering import OrderedRows
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runs.service import RunService
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.runs import RunApiEnvironment
from autotune_platform.scoring.explaining import Explanations
from autotune_platform.scoring.timeline import Timelines
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.runs import RunParts
from autotune_platform.wiring.scoring import CallParts, ResolverParts


class RunApiParts(ApiParts, RunParts, CallParts, ResolverParts):
    """What shows, explains and cancels runs."""

    environment: RunApiEnvironment

    @cached_property
    def runs(self) -> RunService:
        return RunService(
            repository=self.run_repository, completions=self.completions, verdicts=self.verdicts
        )

    @cached_property
    def explanations(self) -> Explanations:
        ledger = Table(self.environment.ledger_table, clients.dynamodb())
        return Explanations(
            rows=RowWaits(ordered=OrderedRows(rows=RowRepository(ledger))),
            completions=self.completions,
            verdicts=self.verdicts,
            panels=self.panels,
            calls=self.call_waits,
            reviews=self.review_records,
        )

    @cached_property
    def timelines(self) -> Timelines:
        return Timelines(
            explanations=self.explanations,
            completions=self.completions,
            verdicts=self.verdicts,
            runs=self.runs,
            calls=self.call_waits,
            reviews=self.review_records,
        )
