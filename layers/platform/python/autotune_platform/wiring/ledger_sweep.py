"""Parts of the function that looks after queues and batches of the ledger."""

from dataclasses import replace
from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.runs.lost_calls import LostCalls
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.imports.work import ImportSweeping
from autotune_platform.ledger.sweeping import LedgerSweeper
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import LedgerSweepEnvironment
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.table import Table
from autotune_platform.wiring.ledger import LedgerStartParts


class LedgerSweepParts(LedgerStartParts):
    """What looks after queues and batches."""

    environment: LedgerSweepEnvironment

    @cached_property
    def call_settling(self) -> CallSettling:
        apprentice = Table(self.environment.apprentice_table, clients.dynamodb())
        return replace(
            super().call_settling,
            lost=LostCalls(runs=RunRepository(apprentice), tasks=TaskRepository(apprentice)),
        )

    @cached_property
    def ledger_sweeper(self) -> LedgerSweeper:
        return LedgerSweeper(
            rows=self.llm_rows,
            batches=self.llm_batches,
            queues=self.llm_queues,
            calls=self.call_settling,
            starter=self.batch_starter,
            imports=ImportSweeping(
                repository=ImportRepository(self.ledger_table),
                executions=Executions(
                    state_machine_arn=self.environment.import_llm_requests_arn,
                    stepfunctions=clients.stepfunctions(),
                ),
            ),
        )
