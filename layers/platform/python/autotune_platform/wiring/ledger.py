"""Parts of the ledger: rows, batches, and what asks language models."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.repository import AccessRepository
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.ledger.affording import Affording
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.bringing import JobResults
from autotune_platform.ledger.batching.creating import JobCreating
from autotune_platform.ledger.batching.failing import JobFailing
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.polling import JobPolling
from autotune_platform.ledger.batching.stepping import Desk
from autotune_platform.ledger.batching.work import JobWork
from autotune_platform.ledger.batching.writing import JobWriting
from autotune_platform.ledger.building import BatchBuilder
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.ledger.costs import CostRepository
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.model_calls import ModelCalls
from autotune_platform.ledger.open_calls import OpenCalls
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.queue_ending import QueueEnding
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.rows_aside import RowsAside
from autotune_platform.ledger.settling import BatchSettling
from autotune_platform.ledger.starting import BatchStarter
from autotune_platform.ledger.step_shares import StepShares, at_once
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.working import BatchWork
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    ConnectionEnvironment,
    LedgerApiEnvironment,
    LedgerEnvironment,
    LedgerSweepEnvironment,
    LedgerWorkEnvironment,
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


class LedgerWorkParts(ModelCallParts):
    """What works on batches."""

    environment: LedgerWorkEnvironment

    def starter(self, state_machine_arn: str) -> BatchStarter:
        """Return what starts executions of the machine that invokes this."""
        stepfunctions = clients.stepfunctions()
        executions = Executions(state_machine_arn=state_machine_arn, stepfunctions=stepfunctions)
        return BatchStarter(executions=executions)

    @cached_property
    def batch_work(self) -> BatchWork:
        aside = RowsAside(table=self.ledger_table, rows=self.llm_rows, money=self.money)
        builder = BatchBuilder(
            rows=self.llm_rows,
            aside=aside,
            endings=QueueEnding(
                table=self.ledger_table, rows=self.llm_rows, aside=aside, claims=self.llm_claims
            ),
            batches=self.llm_batches,
            open_calls=OpenCalls(self.ledger_table),
            connections=self.connection_repository,
            claims=self.llm_claims,
            money=self.money,
            organizations=OrganizationService(repository=AccessRepository(self.registry_table)),
            prices=Prices(),
        )
        settling = BatchSettling(
            rows=self.llm_rows,
            batches=self.llm_batches,
            claims=self.llm_claims,
            costs=self.llm_costs,
            money=self.money,
            open_calls=OpenCalls(self.ledger_table),
        )
        return BatchWork(
            batches=self.llm_batches,
            connections=self.connection_repository,
            builder=builder,
            asking=self.row_asking,
            remaining=self.batch_rows,
            jobs=self._job_work(settling),
            settling=settling,
            shares=self._step_shares(),
        )

    @cached_property
    def batch_rows(self) -> BatchRows:
        return BatchRows(rows=self.llm_rows, batches=self.llm_batches, ends=self.row_ends)

    def _step_shares(self) -> StepShares:
        functions = self.environment.model_functions
        waiting = WaitingShares(
            slots=Slots(budgets=BudgetRepository(self.budgets_table)),
            of="steps",
            most_of_all=None if functions is None else at_once(functions),
        )
        return StepShares(waiting=waiting, functions=functions)

    def _job_work(self, settling: BatchSettling) -> JobWork:
        desk = Desk(
            batches=self.llm_batches,
            connections=self.connection_repository,
            keys=self.provider_keys,
            exchanges=Exchanges(self.connections),
            roles=self.role_sessions,
        )
        files = JobFiles(bucket=self.environment.ledger_bucket, s3=clients.s3())
        writing = JobWriting(
            desk=desk,
            batches=self.llm_batches,
            rows=self.llm_rows,
            texts=self.row_texts,
            ends=self.row_ends,
            remaining=self.batch_rows,
            files=files,
        )
        failing = JobFailing(
            desk=desk,
            remaining=self.batch_rows,
            rows=self.llm_rows,
            ends=self.row_ends,
            writing=writing,
        )
        creating = JobCreating(
            desk=desk,
            creations=self.llm_creations,
            files=files,
            failing=failing,
        )
        results = JobResults(
            desk=desk,
            rows=self.llm_rows,
            texts=self.row_texts,
            ends=self.row_ends,
            remaining=self.batch_rows,
            files=files,
        )
        return JobWork(
            desk=desk,
            batches=self.llm_batches,
            remaining=self.batch_rows,
            writing=writing,
            creating=creating,
            polling=JobPolling(desk=desk, failing=failing),
            results=results,
            files=files,
            settling=settling,
        )
