"""Parts that write exports: of scores, and of the audit log."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    AuditExportEnvironment,
    ExportEnvironment,
    ExportStartEnvironment,
)
from autotune_platform.wiring.completions import ContentParts
from autotune_platform.wiring.registry import RegistryParts

if TYPE_CHECKING:
    from autotune_platform.audit.exporting import AuditExport
    from autotune_platform.exports.direct import DirectExport
    from autotune_platform.exports.files import ExportFiles
    from autotune_platform.exports.reading import ExportSource
    from autotune_platform.exports.redriving import ExportSweeper
    from autotune_platform.exports.repository import ExportRepository
    from autotune_platform.exports.service import ExportService
    from autotune_platform.exports.work import ExportWork
    from autotune_platform.runtime.executions import Executions


class DirectExportParts(ContentParts):
    """Parts that export within one request."""

    @cached_property
    def export_source(self) -> ExportSource:
        from autotune_platform.exports.reading import ExportSource

        return ExportSource(tasks=self.tasks, verdicts=self.verdicts, completions=self.completions)

    @cached_property
    def direct_export(self) -> DirectExport:
        from autotune_platform.exports.direct import DirectExport

        return DirectExport(source=self.export_source)


class ExportParts(DirectExportParts):
    """Parts that write exports, step by step."""

    environment: ExportEnvironment

    @cached_property
    def export_repository(self) -> ExportRepository:
        from autotune_platform.exports.repository import ExportRepository

        return ExportRepository(self.registry_table)

    @cached_property
    def export_files(self) -> ExportFiles:
        from autotune_platform.exports.files import ExportFiles

        return ExportFiles(
            bucket=self.environment.export_bucket,
            s3=clients.s3(),
            presigning_s3=clients.presigning_s3(),
        )

    @cached_property
    def export_work(self) -> ExportWork:
        from autotune_platform.exports.segments import ExportSegments
        from autotune_platform.exports.work import ExportWork

        segments = ExportSegments(
            source=self.export_source,
            repository=self.export_repository,
            files=self.export_files,
        )
        return ExportWork(
            repository=self.export_repository, files=self.export_files, segments=segments
        )


class ExportStartParts(ExportParts):
    """Parts that start and redrive exports."""

    environment: ExportStartEnvironment

    @cached_property
    def executions(self) -> Executions:
        from autotune_platform.runtime.executions import Executions

        return Executions(
            state_machine_arn=self.environment.export_scores_arn,
            stepfunctions=clients.stepfunctions(),
        )

    @cached_property
    def exports(self) -> ExportService:
        from autotune_platform.exports.service import ExportService

        return ExportService(
            repository=self.export_repository,
            files=self.export_files,
            executions=self.executions,
            source=self.export_source,
        )

    @cached_property
    def export_sweeper(self) -> ExportSweeper:
        from autotune_platform.exports.redriving import ExportSweeper

        return ExportSweeper(
            repository=self.export_repository,
            executions=self.executions,
            work=self.export_work,
        )


class AuditExportParts(RegistryParts):
    """Parts that export the audit log."""

    environment: AuditExportEnvironment

    @cached_property
    def audit_export(self) -> AuditExport:
        from autotune_platform.audit.archive import AuditArchive
        from autotune_platform.audit.exporting import AuditExport
        from autotune_platform.audit.progress import ExportProgressRepository
        from autotune_platform.storage.table import Table

        table = Table(self.environment.audit_table, clients.dynamodb())
        return AuditExport(
            repository=self.audit_repository,
            progress=ExportProgressRepository(table),
            archive=AuditArchive(bucket=self.environment.audit_bucket, s3=clients.s3()),
            access=self.access,
        )
