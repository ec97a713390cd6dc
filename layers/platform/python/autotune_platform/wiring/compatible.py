"""Parts of OpenAI's batch API, as far as it is served."""

from functools import cached_property

from autotune_platform.ledger.compatible.files import CompatibleFiles
from autotune_platform.ledger.compatible.objects import FileObjects
from autotune_platform.ledger.compatible.progress import BatchProgress
from autotune_platform.ledger.compatible.repository import BatchRepository, FileRepository
from autotune_platform.ledger.compatible.service import CompatibleBatches
from autotune_platform.ledger.records import LedgerRecords
from autotune_platform.ledger.token_proofs import TokenProofs
from autotune_platform.ledger.token_repository import TokenRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import ImportApiEnvironment
from autotune_platform.wiring.ledger_api import LedgerApiParts
from autotune_platform.wiring.ledger_imports import ImportApiParts


class CompatibleApiParts(LedgerApiParts, ImportApiParts):
    """What answers programs that know OpenAI's batch API."""

    environment: ImportApiEnvironment

    @cached_property
    def llm_tokens(self) -> TokenProofs:
        return TokenProofs(repository=TokenRepository(self.registry_table))

    @cached_property
    def compatible_objects(self) -> FileObjects:
        return FileObjects(
            bucket=self.environment.export_bucket,
            s3=clients.s3(),
            presigning_s3=clients.presigning_s3(),
        )

    @cached_property
    def compatible_files(self) -> CompatibleFiles:
        return CompatibleFiles(
            repository=FileRepository(self.registry_table), objects=self.compatible_objects
        )

    @cached_property
    def compatible_batches(self) -> CompatibleBatches:
        repository = BatchRepository(self.registry_table)
        return CompatibleBatches(
            repository=repository,
            files=self.compatible_files,
            imports=self.imports,
            import_repository=self.import_repository,
            import_files=self.import_files,
            progress=BatchProgress(
                batches=repository,
                files=FileRepository(self.registry_table),
                objects=self.compatible_objects,
                imports=self.import_repository,
                rows=self.llm_rows,
                records=LedgerRecords(texts=self.row_texts),
                ledger=self.ledger,
            ),
        )
