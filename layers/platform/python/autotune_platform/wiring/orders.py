"""Parts with which the product itself has language models asked."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.repository import AccessRepository
from autotune_platform.ledger.ordering import LeftToTheSweeper, RowOrders
from autotune_platform.runtime.environment import LedgerEnvironment
from autotune_platform.wiring.ledger import LedgerParts


class OrderParts(LedgerParts):
    """What enqueues requests by key, and reads what became of them."""

    environment: LedgerEnvironment

    @cached_property
    def row_orders(self) -> RowOrders:
        return RowOrders(
            planner=self.row_planner,
            planning_again=self.planning_again,
            affording=self.affording,
            rows=self.llm_rows,
            texts=self.row_texts,
            claims=self.llm_claims,
            queues=self.llm_queues,
            starter=LeftToTheSweeper(),
            organizations=OrganizationService(repository=AccessRepository(self.registry_table)),
            money=self.money,
            queued_ends=self.queued_ends,
        )
