"""Parts that list and export the audit log."""

from functools import cached_property

from autotune_platform.audit.exporting import AuditArchive, AuditExport, ExportProgressRepository
from autotune_platform.audit.listing import AuditListing
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.audit import AuditExportEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts


class AuditListingParts(ApiParts):
    """What lists the audit log."""

    @cached_property
    def audit_listing(self) -> AuditListing:
        return AuditListing(repository=self.audit_repository)


class AuditExportParts(ApiParts):
    """What exports the audit log."""

    environment: AuditExportEnvironment

    @cached_property
    def audit_export(self) -> AuditExport:
        table = Table(self.environment.audit_table, clients.dynamodb())
        return AuditExport(
            repository=self.audit_repository,
            progress=ExportProgressRepository(table),
            archive=AuditArchive(bucket=self.environment.audit_bucket, s3=clients.s3()),
            access=self.access,
        )
