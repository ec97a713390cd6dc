"""Parts that train small models: what begins trainings, their steps, and what finds lost ones."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.examples.splits import SplitRepository
from autotune_platform.apprentice.examples.texts import ExampleContents
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.hosting.service import Hostings
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.certifying import Certifying
from autotune_platform.apprentice.training.deploying import DeployStep
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.freezing import FreezeStep
from autotune_platform.apprentice.training.hosting import HostStep
from autotune_platform.apprentice.training.job_files import JobFiles
from autotune_platform.apprentice.training.jobs import TrainingJobs
from autotune_platform.apprentice.training.money import TrainingMoney
from autotune_platform.apprentice.training.obstacles import TrainingObstacles
from autotune_platform.apprentice.training.on_sagemaker import SageMakerStep
from autotune_platform.apprentice.training.progress import TrainingProgress
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.service import Trainings
from autotune_platform.apprentice.training.starting import TrainingStarting
from autotune_platform.apprentice.training.sweeping import TrainingSweeping
from autotune_platform.apprentice.training.verifying import VerifyStep
from autotune_platform.apprentice.training.watched import WatchedJobs
from autotune_platform.apprentice.training.watching import JobWatching
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.task_money import TaskMoney
from autotune_platform.budgets.uses import MoneyUses
from autotune_platform.ledger.row_answers import RowAnswers
from autotune_platform.runtime import clients
from autotune_platform.runtime.document_signing import DocumentSigning
from autotune_platform.runtime.environment.apprentice import TrainingPricesEnvironment
from autotune_platform.runtime.environment.apprentice_training import (
    DeployEnvironment,
    HostingEnvironment,
    TrainingApiEnvironment,
    TrainingEnvironment,
    TrainingJobEnvironment,
    TrainingSweepEnvironment,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.training_jobs import SageMakerJobs
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.apprentice import ApprenticeParts, LocalModelParts
from autotune_platform.wiring.ledger import LedgerParts


class TrainingApiParts(ApiParts, ApprenticeParts):
    """What begins trainings, and shows them."""

    environment: TrainingApiEnvironment

    @cached_property
    def trainings(self) -> Trainings:
        return Trainings(
            tasks=self.apprentice_tasks,
            repository=self.training_repository,
            evidence=EvidenceRepository(self.apprentice_table),
            executions=_executions(self.environment.train_student_arn),
            obstacles=TrainingObstacles(
                prices=_prices(self.environment),
                uses=MoneyUses(table=self.budgets_table),
                versions=VersionRepository(self.apprentice_table),
                watched=WatchedJobs(self.apprentice_table),
            ),
            stop_job=SageMakerJobs().stop,
        )

    @cached_property
    def training_money(self) -> TrainingMoney:
        return TrainingMoney(watched=WatchedJobs(self.apprentice_table))


class TrainingParts(LedgerParts, LocalModelParts):
    """What all steps need; those that compute have ``wiring.apprentice_learning``."""

    environment: TrainingEnvironment

    @cached_property
    def task_repository(self) -> TaskRepository:
        return TaskRepository(self.apprentice_table)

    @cached_property
    def training_progress(self) -> TrainingProgress:
        return TrainingProgress(trainings=self.training_repository, tasks=self.task_repository)

    @cached_property
    def data_files(self) -> DataFiles:
        return DataFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def model_files(self) -> ModelFiles:
        return ModelFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def training_endings(self) -> TrainingEndings:
        return TrainingEndings(
            progress=self.training_progress, data=self.data_files, models=self.model_files
        )

    @cached_property
    def data_sets(self) -> DataSets:
        return DataSets(
            examples=self.examples,
            splits=SplitRepository(self.apprentice_table),
            contents=ExampleContents(
                examples=self.examples,
                runs=RunRepository(self.apprentice_table),
                answers=RowAnswers(rows=self.llm_rows, texts=self.row_texts),
            ),
            files=self.data_files,
        )

    @cached_property
    def job_files(self) -> JobFiles:
        return JobFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def verify_step(self) -> VerifyStep:
        return VerifyStep(
            progress=self.training_progress,
            endings=self.training_endings,
            files=self.job_files,
        )

    @cached_property
    def freeze_step(self) -> FreezeStep:
        return FreezeStep(
            progress=self.training_progress,
            endings=self.training_endings,
            data_sets=self.data_sets,
        )


class HostingParts(TrainingParts):
    """What makes versions of what was trained."""

    environment: HostingEnvironment

    @cached_property
    def host_step(self) -> HostStep:
        return HostStep(
            progress=self.training_progress,
            endings=self.training_endings,
            data_sets=self.data_sets,
            versions=VersionRepository(self.apprentice_table),
            clients=self.local_clients,
            certifying=Certifying(
                signing=DocumentSigning(key_id=self.environment.certificates_key, kms=clients.kms())
            ),
        )


class TrainingJobParts(TrainingParts):
    """What has jobs train models."""

    environment: TrainingJobEnvironment

    @cached_property
    def training_money(self) -> MoneyBudgets:
        return MoneyBudgets(table=self.budgets_table, outbox=self.apprentice_table)

    @cached_property
    def sagemaker_step(self) -> SageMakerStep:
        environment = self.environment
        return SageMakerStep(
            progress=self.training_progress,
            endings=self.training_endings,
            jobs=TrainingJobs(
                sagemaker=SageMakerJobs(),
                prefix=environment.training_prefix,
                role_arn=environment.training_role_arn,
                image=environment.training_image,
                code=environment.training_code,
                key_arn=environment.training_key_arn,
            ),
            watched=WatchedJobs(self.apprentice_table),
            files=self.job_files,
            money=self.training_money,
            budgets=TaskMoney(money=self.training_money),
            prices=_prices(environment),
        )


class DeployParts(TrainingParts):
    """What has models hosted."""

    environment: DeployEnvironment

    @cached_property
    def deploy_step(self) -> DeployStep:
        return DeployStep(
            progress=self.training_progress,
            endings=self.training_endings,
            hostings=Hostings(
                repository=HostingRepository(self.apprentice_table),
                prefix=self.environment.hosting_prefix,
            ),
            bucket=self.environment.apprentice_bucket,
        )


class TrainingSweepParts:
    """What finds trainings whose execution was lost, and begins those that are due."""

    def __init__(self, environment: TrainingSweepEnvironment) -> None:
        self.environment = environment

    @cached_property
    def table(self) -> Table:
        return Table(self.environment.apprentice_table, clients.dynamodb())

    @cached_property
    def money(self) -> MoneyBudgets:
        budgets = Table(self.environment.budgets_table, clients.dynamodb())
        return MoneyBudgets(table=budgets, outbox=self.table)

    @cached_property
    def training_sweeping(self) -> TrainingSweeping:
        return TrainingSweeping(
            progress=TrainingProgress(
                trainings=TrainingRepository(self.table), tasks=TaskRepository(self.table)
            ),
            executions=_executions(self.environment.train_student_arn),
            stop_job=SageMakerJobs().stop,
        )

    @cached_property
    def job_watching(self) -> JobWatching:
        return JobWatching(
            watched=WatchedJobs(self.table),
            trainings=TrainingRepository(self.table),
            sagemaker=SageMakerJobs(),
            money=self.money,
            files=ModelFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3()),
        )

    @cached_property
    def training_starting(self) -> TrainingStarting:
        return TrainingStarting(
            trainings=TrainingRepository(self.table),
            tasks=TaskRepository(self.table),
            evidence=EvidenceRepository(self.table),
            executions=_executions(self.environment.train_student_arn),
            obstacles=TrainingObstacles(
                prices=_prices(self.environment),
                uses=self.money,
                versions=VersionRepository(self.table),
                watched=WatchedJobs(self.table),
            ),
            money=self.money,
        )


def _prices(environment: TrainingPricesEnvironment) -> InstancePrices:
    return InstancePrices(usd=environment.training_prices)


def _executions(state_machine_arn: str) -> Executions:
    return Executions(state_machine_arn=state_machine_arn, stepfunctions=clients.stepfunctions())
