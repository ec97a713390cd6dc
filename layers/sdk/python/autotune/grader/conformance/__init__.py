"""Proving from outside that a grader keeps the protocol, as ``autotune grader check`` does."""

from autotune.grader.conformance.checks import check_grader
from autotune.grader.conformance.session import (
    SAMPLE_COMPLETION,
    CheckResult,
    GraderUnreachableError,
    Outcome,
)

__all__ = ["SAMPLE_COMPLETION", "CheckResult", "GraderUnreachableError", "Outcome", "check_grader"]
