"""Environments of functions that use the audit log."""

from autotune_platform.runtime.environment.base import Environment


class AuditEnvironment(Environment):
    """For functions that write to the audit log, or that read it."""

    audit_table: str


class AuditExportEnvironment(AuditEnvironment):
    """For the function that exports the audit log."""

    audit_bucket: str
