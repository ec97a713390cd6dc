"""Environments of the functions of exports."""

from autotune_platform.runtime.environment.completions import ContentEnvironment


class ExportEnvironment(ContentEnvironment):
    """For functions that write exports."""

    export_bucket: str
    ledger_table: str
    ledger_bucket: str


class ExportStartEnvironment(ExportEnvironment):
    """For functions that start and redrive exports."""

    export_scores_arn: str
