"""Parts of imports: files of requests to language models."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.repository import AccessRepository
from autotune_platform.ledger.imports.checking import LineChecking
from autotune_platform.ledger.imports.files import ImportFiles
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.imports.service import ImportService
from autotune_platform.ledger.imports.work import ImportWork
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import ImportApiEnvironment, ImportEnvironment
from autotune_platform.runtime.executions import Executions
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.ledger import EnqueuingParts


class ImportParts(EnqueuingParts):
    """Imports and their files."""

    environment: ImportEnvironment

    @cached_property
    def import_repository(self) -> ImportRepository:
        return ImportRepository(self.ledger_table)

    @cached_property
    def import_files(self) -> ImportFiles:
        return ImportFiles(
            bucket=self.environment.export_bucket,
            s3=clients.s3(),
            presigning_s3=clients.presigning_s3(),
        )


class ImportWorkParts(ImportParts):
    """What takes files in, step by step."""

    @cached_property
    def import_work(self) -> ImportWork:
        return ImportWork(
            repository=self.import_repository,
            files=self.import_files,
            checking=LineChecking(planner=self.row_planner, affording=self.affording),
            enqueuing=self.enqueuing,
            connections=self.connection_repository,
            organizations=OrganizationService(repository=AccessRepository(self.registry_table)),
        )


class ImportApiParts(ApiParts, ImportParts):
    """What makes and starts imports."""

    environment: ImportApiEnvironment

    @cached_property
    def imports(self) -> ImportService:
        return ImportService(
            repository=self.import_repository,
            files=self.import_files,
            connections=self.connection_repository,
            executions=Executions(
                state_machine_arn=self.environment.import_llm_requests_arn,
                stepfunctions=clients.stepfunctions(),
            ),
        )
