"""Parts of the ledger's API."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.ledger.batch_lists import BatchLists
from autotune_platform.ledger.batch_service import BatchService
from autotune_platform.ledger.changing import RequestChanging
from autotune_platform.ledger.parsing_again import ParsingAgain
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.service import LedgerService
from autotune_platform.ledger.spending import SpendingService
from autotune_platform.ledger.waiting import RowWaiting
from autotune_platform.runtime.environment.ledger import LedgerApiEnvironment, LedgerEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.ledger import EnqueuingParts, LedgerParts


class LedgerApiParts(ApiParts, EnqueuingParts):
    """What takes requests to language models, and shows what came of them."""

    environment: LedgerApiEnvironment

    @cached_property
    def ledger(self) -> LedgerService:
        return LedgerService(
            rows=self.llm_rows,
            lists=self.row_lists,
            texts=self.row_texts,
            queued_ends=self.queued_ends,
            connections=self.connection_repository,
            enqueuing=self.enqueuing,
            waiting=RowWaiting(
                rows=self.llm_rows,
                batches=self.llm_batches,
                queues=self.llm_queues,
                connections=self.connection_repository,
                money=self.money,
                prices=Prices(),
            ),
        )

    @cached_property
    def changing(self) -> RequestChanging:
        return RequestChanging(
            ledger=self.ledger,
            parsing=self.parsing_again,
            lists=self.row_lists,
            queued_ends=self.queued_ends,
        )

    @cached_property
    def parsing_again(self) -> ParsingAgain:
        return ParsingAgain(rows=self.llm_rows, texts=self.row_texts)

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        return WaitingShares(slots=slots, of="reads")


class LlmBatchApiParts(ApiParts, LedgerParts):
    """What shows batches and costs, and keeps budgets."""

    environment: LedgerEnvironment

    @cached_property
    def batches(self) -> BatchService:
        return BatchService(
            rows=self.llm_rows,
            batches=self.llm_batches,
            lists=BatchLists(batches=self.llm_batches),
        )

    @cached_property
    def spending(self) -> SpendingService:
        return SpendingService(planner=self.row_planner, costs=self.llm_costs, money=self.money)
