"""Parts of the ledger: rows, batches, and what asks language models."""

from functools import cached_property

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.affording import Affording
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.costs import CostRepository
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.live_jobs import LiveJobs
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.planning_again import PlanningAgain
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.queued_ends import QueuedEnds
from autotune_platform.ledger.row_lists import RowLists
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.starting import BatchStarter
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import (
    LedgerApiEnvironment,
    LedgerEnvironment,
    LedgerSweepEnvironment,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import RegistryParts


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
    def row_lists(self) -> RowLists:
        imports = ImportRepository(self.ledger_table)
        return RowLists(rows=self.llm_rows, batches=self.llm_batches, imports=imports)

    @cached_property
    def llm_queues(self) -> QueueRepository:
        return QueueRepository(self.ledger_table)

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
    def planning_again(self) -> PlanningAgain:
        return PlanningAgain(prices=Prices())

    @cached_property
    def queued_ends(self) -> QueuedEnds:
        return QueuedEnds(rows=self.llm_rows, claims=self.llm_claims)

    @cached_property
    def row_ends(self) -> RowEnds:
        return RowEnds(rows=self.llm_rows, texts=self.row_texts)

    @cached_property
    def call_settling(self) -> CallSettling:
        return CallSettling(
            rows=self.llm_rows,
            texts=self.row_texts,
            batches=self.llm_batches,
            ends=self.row_ends,
            money=self.money,
            costs=self.llm_costs,
        )


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
            planning_again=self.planning_again,
            affording=self.affording,
            rows=self.llm_rows,
            texts=self.row_texts,
            claims=self.llm_claims,
            queues=self.llm_queues,
            starter=self.batch_starter,
        )
