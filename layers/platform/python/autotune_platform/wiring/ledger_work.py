"""Parts of what works on batches of requests to language models."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.repository import AccessRepository
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.ledger.admission import JobAdmission
from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.bringing import JobResults
from autotune_platform.ledger.batching.creating import JobCreating
from autotune_platform.ledger.batching.failing import JobFailing
from autotune_platform.ledger.batching.fetching import JobFetching
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.polling import JobPolling
from autotune_platform.ledger.batching.work import JobWork
from autotune_platform.ledger.batching.writing import JobWriting
from autotune_platform.ledger.building import BatchBuilder
from autotune_platform.ledger.choosing import RowChoosing
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.halvings import HalvingRepository
from autotune_platform.ledger.once_more import OnceMore
from autotune_platform.ledger.open_calls import OpenCalls
from autotune_platform.ledger.ordering import LeftToTheSweeper
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.queue_ending import QueueEnding
from autotune_platform.ledger.reasking import Reasking
from autotune_platform.ledger.rows_aside import RowsAside
from autotune_platform.ledger.settling import BatchSettling
from autotune_platform.ledger.starting import BatchStarter
from autotune_platform.ledger.step_shares import StepShares, at_once
from autotune_platform.ledger.working import BatchWork
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import LedgerWorkEnvironment
from autotune_platform.runtime.executions import Executions
from autotune_platform.wiring.model_calls import ModelCallParts


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
                table=self.ledger_table, rows=self.llm_rows, aside=aside, ends=self.queued_ends
            ),
            batches=self.llm_batches,
            queues=self.llm_queues,
            open_calls=self.open_calls,
            connections=self.connection_repository,
            choosing=RowChoosing(rows=self.llm_rows, ends=self.queued_ends),
            admission=JobAdmission(batches=self.llm_batches, live=self.live_jobs),
            money=self.money,
            organizations=OrganizationService(repository=AccessRepository(self.registry_table)),
            prices=Prices(),
        )
        settling = BatchSettling(
            rows=self.llm_rows,
            batches=self.llm_batches,
            claims=self.llm_claims,
            costs=self.llm_costs,
            live=self.live_jobs,
            money=self.money,
            open_calls=self.open_calls,
        )
        return BatchWork(
            batches=self.llm_batches,
            queues=self.llm_queues,
            connections=self.connection_repository,
            builder=builder,
            asking=self.row_asking,
            remaining=self.batch_rows,
            jobs=self._job_work(settling),
            reasking=self.reasking,
            settling=settling,
            shares=self._step_shares(),
        )

    @cached_property
    def open_calls(self) -> OpenCalls:
        return OpenCalls(self.ledger_table)

    @cached_property
    def batch_rows(self) -> BatchRows:
        return BatchRows(rows=self.llm_rows, batches=self.llm_batches, ends=self.row_ends)

    @cached_property
    def reasking(self) -> Reasking:
        enqueuing = EnqueuingService(
            planner=self.row_planner,
            planning_again=self.planning_again,
            affording=self.affording,
            rows=self.llm_rows,
            texts=self.row_texts,
            claims=self.llm_claims,
            queues=self.llm_queues,
            starter=LeftToTheSweeper(),
        )
        return Reasking(
            rows=self.llm_rows,
            texts=self.row_texts,
            batches=self.llm_batches,
            connections=self.connection_repository,
            once_more=OnceMore(enqueuing=enqueuing),
        )

    def _step_shares(self) -> StepShares:
        functions = self.environment.model_functions
        waiting = WaitingShares(
            slots=Slots(budgets=BudgetRepository(self.budgets_table)),
            of="steps",
            most_of_all=None if functions is None else at_once(functions),
        )
        return StepShares(waiting=waiting, functions=functions)

    def _job_work(self, settling: BatchSettling) -> JobWork:
        desk = self.job_desk
        files = JobFiles(bucket=self.environment.ledger_bucket, s3=clients.s3())
        writing = JobWriting(
            desk=desk,
            batches=self.llm_batches,
            queues=self.llm_queues,
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
            halvings=HalvingRepository(self.ledger_table),
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
            queues=self.llm_queues,
            remaining=self.batch_rows,
            writing=writing,
            creating=creating,
            polling=JobPolling(desk=desk, failing=failing),
            fetching=JobFetching(desk=desk, files=files),
            results=results,
            files=files,
            reasking=self.reasking,
            settling=settling,
        )
