"""Parts of what calls language models, with keys of connections and the ways to providers."""

from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batching.stepping import Desk
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.model_calls import ModelCalls
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import ConnectionEnvironment
from autotune_platform.wiring.ledger import LedgerParts
from autotune_platform.wiring.outbound import OutboundParts


class ModelCallParts(LedgerParts, OutboundParts):
    """What calls language models."""

    environment: ConnectionEnvironment

    @cached_property
    def provider_keys(self) -> ProviderKeys:
        return ProviderKeys(
            table=self.ledger_table,
            key_id=self.environment.provider_keys_key,
            kms=clients.kms(),
        )

    @cached_property
    def role_sessions(self) -> RoleSessions:
        return RoleSessions(sts=clients.sts())

    @cached_property
    def row_asking(self) -> RowAsking:
        return RowAsking(
            rows=self.llm_rows,
            texts=self.row_texts,
            ends=self.row_ends,
            keys=self.provider_keys,
            connections=self.connection_repository,
            calls=ModelCalls(self.connections, self.role_sessions),
            permits=Permits(budgets=BudgetRepository(self.budgets_table)),
        )

    @cached_property
    def job_desk(self) -> Desk:
        return Desk(
            batches=self.llm_batches,
            connections=self.connection_repository,
            keys=self.provider_keys,
            exchanges=Exchanges(self.connections),
            roles=self.role_sessions,
        )

    @cached_property
    def ledger_calls(self) -> LedgerCalls:
        return LedgerCalls(
            planner=self.row_planner,
            rows=self.llm_rows,
            texts=self.row_texts,
            batches=self.llm_batches,
            asking=self.row_asking,
            ends=self.row_ends,
            money=self.money,
            settling=self.call_settling,
        )
