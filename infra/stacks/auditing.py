"""The audit log: who writes and reads it, and its export to S3."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.schedule import Schedule
from infra.constructs.service_function import ServiceFunction
from infra.indexes import BY_COLLECTION_INDEX
from infra.stacks.data_stack import DataStack
from infra.stacks.service_functions import ServiceFunctions

EXPORT_TIMEOUT = Duration.minutes(15)
EXPORT_PROGRESS = "export"


def add_audit_export(
    stack: Construct, *, functions: ServiceFunctions, data: DataStack
) -> ServiceFunction:
    """Export each hour what is due: a day after its end, and what failed before."""
    export = functions.create(
        "ExportAudit",
        handler="functions.access.export_audit.lambda_handler",
        description="Copies the audit log of days that are over to S3",
        timeout=EXPORT_TIMEOUT,
        environment={
            **functions.audit_environment,
            "AUDIT_BUCKET": data.audit_archive.bucket.bucket_name,
        },
    )
    data.audit.grant_read(export.function)
    for grant in (data.audit.grant_put, data.audit.grant_update):
        grant(export.function, keys=EXPORT_PROGRESS)
    data.registry.grant_query_index(export.function, index_name=BY_COLLECTION_INDEX)
    data.audit_archive.grant_put(export.function)
    Schedule(stack, "ExportAuditEveryHour", function=export, every=Duration.hours(1))
    return export
