"""Parts that have samples of decks judged, and show what judges said."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.prompt_truths import PromptTruths
from autotune_platform.decks.prompting.asking import GenerationAsking
from autotune_platform.decks.prompting.collecting import GenerationCollecting, GenerationPairs
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.proposing.asking import ProposalAsking
from autotune_platform.decks.proposing.repository import ProposalRepository
from autotune_platform.decks.proposing.service import ProposalService
from autotune_platform.decks.proposing.steps import RunSteps
from autotune_platform.decks.proposing.storing import ProposedGraders
from autotune_platform.decks.proposing.work import ProposalWork
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.result_service import ResultService
from autotune_platform.decks.runs.asking import RunAsking
from autotune_platform.decks.runs.choosing import RunChoosing
from autotune_platform.decks.runs.collecting import RunCollecting
from autotune_platform.decks.runs.estimating import RunEstimating
from autotune_platform.decks.runs.guarding import RunGuard
from autotune_platform.decks.runs.pairs import NextPairs
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.service import RunService
from autotune_platform.decks.runs.sweeping import RunSweeper
from autotune_platform.decks.runs.work import RunWork
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.step_shares import StepShares, at_once
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.deck_runs import (
    DeckRunApiEnvironment,
    DeckRunEnvironment,
    DeckRunSweepEnvironment,
    DeckRunWorkEnvironment,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.deck_drift import drift_watch
from autotune_platform.wiring.decks import DeckParts, SampleParts
from autotune_platform.wiring.orders import PromptOrderParts


class DeckRunParts(SampleParts, PromptOrderParts):
    """Runs, what they judge, and what came of it."""

    environment: DeckRunEnvironment

    @cached_property
    def deck_repository(self) -> DeckRepository:
        return DeckRepository(self.decks_table)

    @cached_property
    def deck_grader_repository(self) -> DeckGraderRepository:
        return DeckGraderRepository(self.decks_table)

    @cached_property
    def deck_run_repository(self) -> RunRepository:
        return RunRepository(self.decks_table)


class DeckRunWorkParts(DeckRunParts):
    """What goes on with runs."""

    environment: DeckRunWorkEnvironment

    @cached_property
    def deck_run_asking(self) -> RunAsking:
        return RunAsking(
            decks=self.deck_repository,
            graders=self.deck_grader_repository,
            samples=self.sample_repository,
            orders=self.row_orders,
        )

    @cached_property
    def deck_run_guard(self) -> RunGuard:
        return RunGuard(repository=self.deck_run_repository)

    @cached_property
    def deck_run_work(self) -> RunWork:
        collecting = RunCollecting(
            repository=self.deck_run_repository,
            results=self.deck_results_repository,
            samples=self.sample_repository,
            asking=self.deck_run_asking,
            orders=self.row_orders,
            guard=self.deck_run_guard,
        )
        return RunWork(
            repository=self.deck_run_repository,
            pairs=NextPairs(
                repository=self.deck_run_repository, results=self.deck_results_repository
            ),
            asking=self.deck_run_asking,
            collecting=collecting,
            guard=self.deck_run_guard,
        )

    @cached_property
    def deck_generation_work(self) -> RunWork:
        asking = GenerationAsking(
            decks=self.deck_repository,
            graders=self.deck_grader_repository,
            samples=self.sample_repository,
            orders=self.row_orders,
            edits=PromptEditRepository(self.decks_table),
        )
        collecting = GenerationCollecting(
            repository=self.deck_run_repository,
            results=self.deck_results_repository,
            samples=self.sample_repository,
            asking=asking,
            orders=self.row_orders,
            guard=self.deck_run_guard,
        )
        pairs = GenerationPairs(
            repository=self.deck_run_repository,
            results=self.deck_results_repository,
            edits=asking.edits,
            samples=self.sample_repository,
        )
        return RunWork(
            repository=self.deck_run_repository,
            pairs=pairs,
            asking=asking,
            collecting=collecting,
            guard=self.deck_run_guard,
        )

    @cached_property
    def deck_run_steps(self) -> RunSteps:
        proposing = ProposalWork(
            repository=ProposalRepository(self.decks_table, self.deck_run_repository),
            decks=self.deck_repository,
            asking=ProposalAsking(orders=self.row_orders),
            storing=ProposedGraders(
                decks=self.deck_repository, graders=self.deck_grader_repository
            ),
            guard=self.deck_run_guard,
        )
        return RunSteps(
            repository=self.deck_run_repository,
            judging=self.deck_run_work,
            generating=self.deck_generation_work,
            proposing=proposing,
            shares=self._shares(),
            graders=self.deck_grader_repository,
            watch=drift_watch(self.decks_table, self.registry_table),
        )

    def _shares(self) -> StepShares:
        functions = self.environment.slow_functions
        waiting = WaitingShares(
            slots=Slots(budgets=BudgetRepository(self.budgets_table)),
            of="deck_runs",
            most_of_all=None if functions is None else at_once(functions),
        )
        return StepShares(waiting=waiting, functions=functions)


class DeckRunApiParts(ApiParts, DeckRunParts):
    """What serves runs and results."""

    environment: DeckRunApiEnvironment

    @cached_property
    def deck_runs(self) -> RunService:
        return RunService(
            decks=self.decks,
            deck_repository=self.deck_repository,
            repository=self.deck_run_repository,
            choosing=RunChoosing(
                graders=self.deck_grader_repository,
                samples=self.sample_repository,
                results=self.deck_results_repository,
                truths=PromptTruths(
                    labels=self.labels,
                    of_prompt=PromptSamples(
                        decks=self.deck_repository, pool=SamplePool(self.decks_table)
                    ),
                ),
                edits=PromptEditRepository(self.decks_table),
            ),
            estimating=RunEstimating(results=self.deck_results_repository, orders=self.row_orders),
            orders=self.row_orders,
            executions=_executions(self.environment.work_deck_run_arn),
        )

    @cached_property
    def deck_proposals(self) -> ProposalService:
        return ProposalService(
            decks=self.decks,
            deck_repository=self.deck_repository,
            runs=self.deck_runs,
            asking=ProposalAsking(orders=self.row_orders),
            connections=UsableConnections(repository=ConnectionRepository(self.registry_table)),
        )

    @cached_property
    def deck_results(self) -> ResultService:
        return ResultService(
            decks=self.decks,
            graders=self.deck_graders,
            samples=self.sample_repository,
            results=self.deck_results_repository,
            labels=self.labels,
            held_out=self.held_out,
        )


class DeckRunSweepParts(DeckParts):
    """What redrives runs."""

    environment: DeckRunSweepEnvironment

    @cached_property
    def deck_run_sweeper(self) -> RunSweeper:
        return RunSweeper(
            decks=DeckRepository(self.decks_table),
            repository=RunRepository(self.decks_table),
            executions=_executions(self.environment.work_deck_run_arn),
        )


def _executions(state_machine_arn: str) -> Executions:
    return Executions(state_machine_arn=state_machine_arn, stepfunctions=clients.stepfunctions())
