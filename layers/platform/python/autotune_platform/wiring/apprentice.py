"""Parts that look after tasks of the apprentice."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.erasing import TaskErasing
from autotune_platform.apprentice.examples.items import reconfigured
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.reading import PairReading
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.calling import HostingCalls
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.exchanging import ModelServers, ServerKeys, no_key
from autotune_platform.apprentice.local.linear import StudentInvocations
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.apprentice.similarity.asking import SimilarityInvocations
from autotune_platform.apprentice.similarity.files import EmbeddingFiles
from autotune_platform.apprentice.students.files import BaseModels, ModelFiles
from autotune_platform.apprentice.training.certifying import CertificateReading
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.apprentice.versions.service import ModelVersions
from autotune_platform.budgets.task_money import TaskMoney
from autotune_platform.budgets.uses import MoneyUses
from autotune_platform.ledger.bearer_keys import BearerKeys
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients
from autotune_platform.runtime.document_signing import DocumentSigning
from autotune_platform.runtime.environment.apprentice import (
    ApprenticeApiEnvironment,
    ApprenticeEnvironment,
)
from autotune_platform.runtime.environment.apprentice_runs import LinearEnvironment
from autotune_platform.runtime.functions import Functions
from autotune_platform.runtime.sagemaker import SageMakerRuntime
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.graders import GraderParts
from autotune_platform.wiring.outbound import OutboundParts


class ApprenticeParts(GraderParts, OutboundParts):
    """Tasks of the apprentice."""

    environment: ApprenticeEnvironment

    @cached_property
    def apprentice_table(self) -> Table:
        return Table(self.environment.apprentice_table, clients.dynamodb())

    @cached_property
    def budgets_table(self) -> Table:
        return Table(self.environment.budgets_table, clients.dynamodb())

    @cached_property
    def apprentice_evidence(self) -> EvidenceRepository:
        return EvidenceRepository(self.apprentice_table)

    @cached_property
    def examples(self) -> ExampleRepository:
        return ExampleRepository(self.apprentice_table)

    @cached_property
    def apprentice_tasks(self) -> TaskConfigurations:
        return TaskConfigurations(
            repository=TaskRepository(self.apprentice_table),
            connections=UsableConnections(repository=ConnectionRepository(self.registry_table)),
            graders=self.graders,
            prices=Prices(),
            admit_private=self.environment.admit_private_addresses,
            money=TaskMoney(money=MoneyUses(table=self.budgets_table)),
            remains=self.task_erasing,
            embeddings=self.embeddings,
            instances=self.instance_prices,
            bases=self.base_models,
            reconfigured=reconfigured,
        )

    @cached_property
    def embeddings(self) -> EmbeddingFiles | None:
        # Whoever puts no task looks for none.
        return None

    @cached_property
    def instance_prices(self) -> InstancePrices | None:
        return None

    @cached_property
    def base_models(self) -> BaseModels | None:
        return None

    @cached_property
    def task_erasing(self) -> TaskErasing:
        return TaskErasing(
            examples=self.examples,
            evidence=self.apprentice_evidence,
            trainings=self.training_repository,
            hostings=self.hosting_repository,
        )

    @cached_property
    def training_repository(self) -> TrainingRepository:
        return TrainingRepository(self.apprentice_table)

    @cached_property
    def hosting_repository(self) -> HostingRepository:
        return HostingRepository(self.apprentice_table)

    @cached_property
    def model_servers(self) -> ModelServers:
        return ModelServers(self.connections, keys=self.server_keys)

    @cached_property
    def server_keys(self) -> ServerKeys:
        # Most functions may decrypt none.
        return no_key

    @cached_property
    def model_versions(self) -> ModelVersions:
        return ModelVersions(
            tasks=self.apprentice_tasks,
            repository=VersionRepository(self.apprentice_table),
            servers=self.model_servers,
        )


class LocalModelParts(ApprenticeParts):
    """What asks versions of small models."""

    environment: LinearEnvironment

    @cached_property
    def local_clients(self) -> BackendClients:
        return BackendClients(
            servers=self.model_servers,
            endpoints=lambda: self.endpoints,
            students=lambda: self.students,
            notes=HostingCalls(
                repository=HostingRepository(
                    Table(self.environment.apprentice_table, clients.brief_dynamodb())
                )
            ),
        )

    @cached_property
    def aws_servers(self) -> ModelServers:
        # AWS's own addresses, which may lie inside of a network.
        return ModelServers(connection_pool(admit_private=True))

    @cached_property
    def endpoints(self) -> EndpointInvocations:
        return EndpointInvocations(SageMakerRuntime(self.aws_servers.send))

    @cached_property
    def students(self) -> StudentInvocations:
        return StudentInvocations(
            functions=Functions(self.aws_servers.send),
            function=self.environment.answer_linear_function,
        )

    @cached_property
    def meanings(self) -> SimilarityInvocations:
        return SimilarityInvocations(
            functions=Functions(self.aws_servers.send),
            function=self.environment.score_similarity_function,
        )


class ApprenticeApiParts(ApiParts, ApprenticeParts):
    """What manages tasks of the apprentice."""

    environment: ApprenticeApiEnvironment

    @cached_property
    def instance_prices(self) -> InstancePrices:
        return InstancePrices(usd=self.environment.training_prices)

    @cached_property
    def base_models(self) -> BaseModels:
        return BaseModels(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def server_keys(self) -> ServerKeys:
        # To register a model, its server is asked for it.
        return BearerKeys(
            repository=ConnectionRepository(self.registry_table),
            keys=ProviderKeys(
                table=Table(self.environment.ledger_table, clients.dynamodb()),
                key_id=self.environment.provider_keys_key,
                kms=clients.kms(),
            ),
        ).of

    @cached_property
    def task_erasing(self) -> TaskErasing:
        return TaskErasing(
            examples=self.examples,
            evidence=self.apprentice_evidence,
            trainings=self.training_repository,
            hostings=self.hosting_repository,
            files=ModelFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3()),
        )

    @cached_property
    def embeddings(self) -> EmbeddingFiles:
        return EmbeddingFiles(bucket=self.environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def certificates(self) -> CertificateReading:
        return CertificateReading(
            tasks=self.apprentice_tasks,
            repository=self.training_repository,
            signing=DocumentSigning(key_id=self.environment.certificates_key, kms=clients.kms()),
        )

    @cached_property
    def apprentice_pairs(self) -> PairReading:
        return PairReading(tasks=self.apprentice_tasks, repository=self.apprentice_evidence)
