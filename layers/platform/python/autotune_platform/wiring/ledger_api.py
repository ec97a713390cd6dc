"""Parts of the ledger's API."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.ledger.batching.resolving import BatchResolving
from autotune_platform.ledger.batching.revoking import ConnectionRevoking
from autotune_platform.ledger.changing import RequestChanging
from autotune_platform.ledger.connections import ConnectionService
from autotune_platform.ledger.parsing_again import ParsingAgain
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.service import LedgerService
from autotune_platform.ledger.tokens import TokenRepository, TokenService
from autotune_platform.ledger.verifying import ConnectionVerifying
from autotune_platform.ledger.waiting import RowWaiting
from autotune_platform.runtime.environment import ConnectionEnvironment, LedgerApiEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.ledger import EnqueuingParts, ModelCallParts


class LedgerApiParts(ApiParts, EnqueuingParts):
    """What takes requests to language models, and shows what came of them."""

    environment: LedgerApiEnvironment

    @cached_property
    def ledger(self) -> LedgerService:
        return LedgerService(
            rows=self.llm_rows,
            texts=self.row_texts,
            batches=self.llm_batches,
            claims=self.llm_claims,
            connections=self.connection_repository,
            enqueuing=self.enqueuing,
            planner=self.row_planner,
            costs=self.llm_costs,
            money=self.money,
            waiting=RowWaiting(
                rows=self.llm_rows,
                connections=self.connection_repository,
                money=self.money,
                prices=Prices(),
            ),
        )

    @cached_property
    def changing(self) -> RequestChanging:
        return RequestChanging(ledger=self.ledger, parsing=self.parsing_again, rows=self.llm_rows)

    @cached_property
    def parsing_again(self) -> ParsingAgain:
        return ParsingAgain(rows=self.llm_rows, texts=self.row_texts)

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        return WaitingShares(slots=slots, of="reads")


class ConnectionApiParts(ApiParts, ModelCallParts):
    """What stores connections with their keys, and asks providers with these."""

    environment: ConnectionEnvironment

    @cached_property
    def llm_connections(self) -> ConnectionService:
        return ConnectionService(
            repository=self.connection_repository,
            keys=self.provider_keys,
            batches=self.llm_batches,
            admit_private=self.environment.admit_private_addresses,
        )

    @cached_property
    def revoking(self) -> ConnectionRevoking:
        return ConnectionRevoking(
            connections=self.llm_connections, batches=self.llm_batches, desk=self.job_desk
        )

    @cached_property
    def llm_tokens(self) -> TokenService:
        return TokenService(
            repository=TokenRepository(self.registry_table), connections=self.connection_repository
        )

    @cached_property
    def resolving(self) -> BatchResolving:
        return BatchResolving(
            batches=self.llm_batches, creations=self.llm_creations, desk=self.job_desk
        )

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        return WaitingShares(slots=slots, of="connections")

    @cached_property
    def verifying(self) -> ConnectionVerifying:
        return ConnectionVerifying(calls=self.ledger_calls, connections=self.connection_repository)
