"""Parts of the ledger: rows, batches, and what asks language models."""

from functools import cached_property

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.ledger.affording import Affording
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batching.stepping import Desk
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.ledger.costs import CostRepository
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.live_jobs import LiveJobs
from autotune_platform.ledger.model_calls import ModelCalls
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.starting import BatchStarter
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    ConnectionEnvironment,
    LedgerApiEnvironment,
    LedgerEnvironment,
    LedgerSweepEnvironment,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import RegistryParts
from autotune_platform.wiring.outbound import OutboundParts


class LedgerParts(RegistryParts):
    """Where rows, batches and money are stored."""

    environment: LedgerEnvironment

    @cached_property
    def ledger_table(self) -> Table:
        return Table(self.environment.ledger_table, clients.dynamodb())

    @cached_property
    def llm_rows(self) -> RowRepository:
        return RowRepository(self.ledger_table)

    @cached_property
    def row_texts(self) -> RowTexts:
        return RowTexts(
            table=self.ledger_table, bucket=self.environment.ledger_bucket, s3=clients.s3()
        )

    @cached_property
    def llm_batches(self) -> BatchRepository:
        return BatchRepository(self.ledger_table)

    @cached_property
    def llm_claims(self) -> ClaimRepository:
        return ClaimRepository(self.ledger_table)

    @cached_property
    def llm_creations(self) -> CreationRepository:
        return CreationRepository(self.ledger_table)

    @cached_property
    def live_jobs(self) -> LiveJobs:
        return LiveJobs(self.ledger_table)

    @cached_property
    def llm_costs(self) -> CostRepository:
        return CostRepository(self.ledger_table)

    @cached_property
    def connection_repository(self) -> ConnectionRepository:
        return ConnectionRepository(self.registry_table)

    @cached_property
    def budgets_table(self) -> Table:
        return Table(self.environment.budgets_table, clients.dynamodb())

    @cached_property
    def money(self) -> MoneyBudgets:
        return MoneyBudgets(table=self.budgets_table, outbox=self.ledger_table)

    @cached_property
    def affording(self) -> Affording:
        return Affording(money=self.money)

    @cached_property
    def row_planner(self) -> RowPlanner:
        return RowPlanner(connections=self.connection_repository, prices=Prices())

    @cached_property
    def row_ends(self) -> RowEnds:
        return RowEnds(rows=self.llm_rows, texts=self.row_texts)


class LedgerStartParts(LedgerParts):
    """What starts executions of batches."""

    environment: LedgerApiEnvironment | LedgerSweepEnvironment

    @cached_property
    def batch_starter(self) -> BatchStarter:
        executions = Executions(
            state_machine_arn=self.environment.submit_llm_batch_arn,
            stepfunctions=clients.stepfunctions(),
        )
        return BatchStarter(executions=executions)


class EnqueuingParts(LedgerStartParts):
    """What enqueues rows."""

    environment: LedgerApiEnvironment

    @cached_property
    def enqueuing(self) -> EnqueuingService:
        return EnqueuingService(
            planner=self.row_planner,
            affording=self.affording,
            rows=self.llm_rows,
            texts=self.row_texts,
            claims=self.llm_claims,
            batches=self.llm_batches,
            starter=self.batch_starter,
        )


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
            batches=self.llm_batches,
            asking=self.row_asking,
            ends=self.row_ends,
            money=self.money,
            costs=self.llm_costs,
        )
