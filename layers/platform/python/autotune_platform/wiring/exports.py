"""Parts that write exports: of scores, and of the audit log."""

from functools import cached_property

from autotune_platform.exports.direct import DirectExport
from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.reading import ExportSource
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.segments import ExportSegments
from autotune_platform.exports.service import ExportService
from autotune_platform.exports.work import ExportSweeper, ExportWork
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.records import LedgerRecords
from autotune_platform.ledger.row_lists import RowLists
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.runtime.environment.exports import ExportEnvironment, ExportStartEnvironment
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.tasks import TaskParts


class ExportSourceParts(CompletionParts, TaskParts):
    """What exports are made of."""

    environment: ContentEnvironment

    @cached_property
    def export_source(self) -> ExportSource:
        return ExportSource(tasks=self.tasks, verdicts=self.verdicts, completions=self.completions)


class DirectExportParts(ApiParts, ExportSourceParts):
    """What exports within one request."""

    environment: ContentEnvironment

    @cached_property
    def direct_export(self) -> DirectExport:
        return DirectExport(source=self.export_source)


class ExportFileParts(ExportSourceParts):
    """Exports and their files."""

    environment: ExportEnvironment

    @cached_property
    def export_repository(self) -> ExportRepository:
        return ExportRepository(self.registry_table)

    @cached_property
    def export_files(self) -> ExportFiles:
        return ExportFiles(
            bucket=self.environment.export_bucket,
            s3=clients.s3(),
            presigning_s3=clients.presigning_s3(),
        )


class ExportParts(ExportFileParts):
    """What writes exports, step by step."""

    @cached_property
    def ledger_table(self) -> Table:
        return Table(self.environment.ledger_table, clients.dynamodb())

    @cached_property
    def ledger_records(self) -> LedgerRecords:
        texts = RowTexts(
            table=self.ledger_table, bucket=self.environment.ledger_bucket, s3=clients.s3()
        )
        return LedgerRecords(texts=texts)

    @cached_property
    def row_lists(self) -> RowLists:
        table = self.ledger_table
        return RowLists(
            rows=RowRepository(table),
            batches=BatchRepository(table),
            imports=ImportRepository(table),
        )

    @cached_property
    def export_work(self) -> ExportWork:
        segments = ExportSegments(
            source=self.export_source,
            repository=self.export_repository,
            files=self.export_files,
            requests=self.ledger_records,
            lists=self.row_lists,
        )
        return ExportWork(
            repository=self.export_repository, files=self.export_files, segments=segments
        )


class ExportStartParts(ExportFileParts):
    """What starts exports."""

    environment: ExportStartEnvironment

    @cached_property
    def executions(self) -> Executions:
        return Executions(
            state_machine_arn=self.environment.export_scores_arn,
            stepfunctions=clients.stepfunctions(),
        )


class ExportApiParts(ApiParts, ExportStartParts):
    """What serves exports."""

    environment: ExportStartEnvironment

    @cached_property
    def exports(self) -> ExportService:
        return ExportService(
            repository=self.export_repository,
            files=self.export_files,
            executions=self.executions,
            source=self.export_source,
        )


class ExportSweepParts(ExportStartParts, ExportParts):
    """What redrives exports."""

    environment: ExportStartEnvironment

    @cached_property
    def export_sweeper(self) -> ExportSweeper:
        return ExportSweeper(
            repository=self.export_repository, executions=self.executions, work=self.export_work
        )
