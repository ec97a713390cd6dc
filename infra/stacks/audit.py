"""The audit log: who reads it, its export to S3, and the alarm that it has gaps."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.service_function import ServiceFunction
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX

EXPORT_TIMEOUT = Duration.minutes(15)
EXPORT_PROGRESS = "export"


class AuditStack(DomainStack):
    """Holds what lists the audit log and what exports it.

    Attributes:
        export: For operators, who have a day exported again.
    """

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="audit", shared=shared, holds="the audit log's readers")
        entries = self.create_api("AuditApi")
        shared.data.audit.grant_read(entries.function, "Query")
        http.api.route(entries, paths=["/api/v1/audit"])
        self.export = self._create_export()
        self.alarms.watch_unwritten_audit()

    def _create_export(self) -> ServiceFunction:
        """Export each hour what is due: a day after its end, and what failed before."""
        data = self.shared.data
        export = self.create(
            "ExportAudit",
            module="export_audit",
            description="Copies the audit log of days that are over to S3",
            timeout=EXPORT_TIMEOUT,
            environment={
                **self.audit_environment,
                "AUDIT_BUCKET": data.audit_archive.bucket.bucket_name,
            },
        )
        data.audit.grant_read(export.function, "GetItem", "Query")
        data.audit.grant_write(export.function, "PutItem", "UpdateItem", keys=EXPORT_PROGRESS)
        data.registry.grant_query_index(export.function, index_name=BY_COLLECTION_INDEX)
        data.audit_archive.grant_put(export.function)
        self.run_every(Duration.hours(1), export)
        return export
