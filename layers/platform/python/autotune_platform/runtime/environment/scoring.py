"""Environments of the functions that have completions scored."""

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.completions import (
    ContentEnvironment,
    SubmissionEnvironment,
)
from autotune_platform.runtime.environment.gateway import GatewayEnvironment
from autotune_platform.runtime.environment.ledger import LedgerEnvironment
from autotune_platform.runtime.environment.projections import ProjectionEnvironment


class DispatchEnvironment(Environment):
    """For the function that starts runs."""

    completions_table: str
    score_completions_arn: str
    grading_functions: int | None = None


class GradingEnvironment(ContentEnvironment, GatewayEnvironment, LedgerEnvironment):
    """For the function that has completions graded; graders call back below ``api_url``."""

    api_url: str


class AwaitEnvironment(ContentEnvironment):
    """For the function that lets runs wait, for signals or for a grader that is down."""

    budgets_table: str
    ledger_table: str


class SweepEnvironment(SubmissionEnvironment, ProjectionEnvironment):
    """For the function that finds what was lost, and mends it."""
