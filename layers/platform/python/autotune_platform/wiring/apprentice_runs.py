"""Parts that take inputs of the apprentice's tasks, and those that have them answered."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.local.exchanging import ServerKeys
from autotune_platform.apprentice.runs.additional import AdditionalAsking
from autotune_platform.apprentice.runs.asking_graders import GraderScores
from autotune_platform.apprentice.runs.erasing import RunErasing
from autotune_platform.apprentice.runs.handing_over import RunQueue, RunWorker
from autotune_platform.apprentice.runs.locally import LocalAsking
from autotune_platform.apprentice.runs.reading import RunAnswers, RunReading
from autotune_platform.apprentice.runs.remotely import RemoteAsking
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.runs.running import Runner
from autotune_platform.apprentice.runs.starting import RunStarting
from autotune_platform.apprentice.runs.working import RunWork
from autotune_platform.apprentice.standing import Standings
from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import HeldPlaces, WaitingShares, half_of
from autotune_platform.ledger.bearer_keys import BearerKeys
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import (
    ApprenticeRunApiEnvironment,
    ApprenticeWorkEnvironment,
    RunStartEnvironment,
)
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.apprentice import ApprenticeParts, LocalModelParts
from autotune_platform.wiring.gateway import GatewayParts
from autotune_platform.wiring.ledger import LedgerParts
from autotune_platform.wiring.model_calls import ModelCallParts


class ApprenticeRunParts(LedgerParts, ApprenticeParts):
    """Where runs are stored, and their answers."""

    environment: RunStartEnvironment | ApprenticeWorkEnvironment

    @cached_property
    def task_repository(self) -> TaskRepository:
        return TaskRepository(self.apprentice_table)

    @cached_property
    def standings(self) -> Standings:
        return Standings(
            tasks=self.task_repository, evidence=EvidenceRepository(self.apprentice_table)
        )

    @cached_property
    def apprentice_run_repository(self) -> RunRepository:
        return RunRepository(self.apprentice_table)

    @cached_property
    def row_answers(self) -> RowAnswers:
        return RowAnswers(rows=self.llm_rows, texts=self.row_texts)

    @cached_property
    def run_answers(self) -> RunAnswers:
        return RunAnswers(tasks=self.task_repository, answers=self.row_answers)

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(sqs=clients.sqs(), queue_url=self.environment.run_queue_url)


class RunStartParts(ApiParts, ApprenticeRunParts):
    """What starts runs."""

    environment: RunStartEnvironment

    @cached_property
    def run_starting(self) -> RunStarting:
        return RunStarting(
            runs=self.apprentice_run_repository,
            standings=self.standings,
            queue=self.run_queue,
            worker=RunWorker(
                client_for=clients.waiting_lambda, function=self.environment.work_runs_function
            ),
        )


class ApprenticeRunApiParts(RunStartParts):
    """What takes inputs of tasks, and shows what came of them."""

    environment: ApprenticeRunApiEnvironment

    @cached_property
    def run_reading(self) -> RunReading:
        return RunReading(
            runs=self.apprentice_run_repository,
            tasks=self.task_repository,
            answers=self.run_answers,
        )

    @cached_property
    def run_erasing(self) -> RunErasing:
        return RunErasing(
            runs=self.apprentice_run_repository,
            examples=ExampleRepository(self.apprentice_table),
            rows=self.row_answers,
        )

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        most = self.environment.waiting_runs
        return WaitingShares(
            slots=slots,
            of="apprentice_runs",
            most_of_all=most,
            most_of_one=None if most is None else half_of(most),
        )


class ApprenticeWorkParts(ApprenticeRunParts, LocalModelParts, ModelCallParts, GatewayParts):
    """What has models answer, with the keys of connections."""

    environment: ApprenticeWorkEnvironment

    @cached_property
    def usable_connections(self) -> UsableConnections:
        return UsableConnections(repository=ConnectionRepository(self.registry_table))

    @cached_property
    def server_keys(self) -> ServerKeys:
        repository = ConnectionRepository(self.registry_table)
        return BearerKeys(repository=repository, keys=self.provider_keys).of

    @cached_property
    def held_places(self) -> HeldPlaces:
        return HeldPlaces(slots=Slots(budgets=BudgetRepository(self.budgets_table)))

    @cached_property
    def runner(self) -> Runner:
        return Runner(
            runs=self.apprentice_run_repository,
            tasks=self.task_repository,
            standings=self.standings,
            remote=RemoteAsking(
                calls=self.ledger_calls,
                runs=self.apprentice_run_repository,
                connections=self.usable_connections,
            ),
            local=LocalAsking(clients=self.local_clients),
            answers=self.run_answers,
            rows=self.row_answers,
            additional=AdditionalAsking(
                calls=self.ledger_calls,
                runs=self.apprentice_run_repository,
                connections=self.usable_connections,
            ),
            graders=GraderScores(
                graders=self.graders,
                gateway=self.gateway,
                permits=Permits(budgets=BudgetRepository(self.budgets_table)),
            ),
            meanings=self.meanings,
        )

    @cached_property
    def run_work(self) -> RunWork:
        return RunWork(
            runs=self.apprentice_run_repository, runner=self.runner, queue=self.run_queue
        )
