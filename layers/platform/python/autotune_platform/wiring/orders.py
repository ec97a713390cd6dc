"""Parts with which the product itself has language models asked."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.repository import AccessRepository
from autotune_platform.ledger.enqueuing import GroupStarter
from autotune_platform.ledger.ordering import LeftToTheSweeper, RowOrders
from autotune_platform.runtime.environment.ledger import LedgerApiEnvironment, LedgerEnvironment
from autotune_platform.wiring.ledger import LedgerParts, LedgerStartParts


class OrderParts(LedgerParts):
    """What enqueues requests by key, and reads what became of them."""

    environment: LedgerEnvironment

    @cached_property
    def order_starter(self) -> GroupStarter:
        """What begins batches of queues that are long enough."""
        return LeftToTheSweeper()

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
            starter=self.order_starter,
            organizations=OrganizationService(repository=AccessRepository(self.registry_table)),
            money=self.money,
            queued_ends=self.queued_ends,
        )


class PromptOrderParts(LedgerStartParts, OrderParts):
    """The same where many rows are enqueued together, so that a person waits for their batch."""

    environment: LedgerApiEnvironment

    @cached_property
    def order_starter(self) -> GroupStarter:
        return self.batch_starter
