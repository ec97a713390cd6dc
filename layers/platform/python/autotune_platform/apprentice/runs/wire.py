"""Runs as callers see them, and the errors of those that nobody answered."""

from collections.abc import Mapping
from typing import Any, Final

from autotune.protocol import apprentice_runs as wire
from autotune.protocol.problems import BudgetProblem
from autotune_platform.apprentice.routing import Refusal
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.runtime.errors import AutotuneError, BudgetExhaustedError, UnavailableError

_MESSAGES: Final[Mapping[Refusal, str]] = {
    Refusal.BUDGET_EXHAUSTED: "the budget has no room for the paid model",
    Refusal.REMOTE_UNAVAILABLE: "the paid model did not answer",
    Refusal.LOCAL_UNAVAILABLE: "the budget has no room, and the small model did not answer",
}


class RemoteUnavailableError(UnavailableError):
    """The paid model did not answer, after all attempts."""

    code = "remote_unavailable"
    title = "The paid model did not answer"


class LocalUnavailableError(UnavailableError):
    """There was no money for the paid model, and the small one did not answer."""

    code = "local_unavailable"
    title = "No model answered"


def run_on_wire(run: Run, output: Mapping[str, Any] | None = None) -> wire.ApprenticeRun:
    """Return a run with what was asked and answered."""
    whole = {
        "error": _error(run),
        "input": None if run.erased_at is not None else dict(run.input),
        "output": None if output is None else dict(output),
    }
    return summary_on_wire(run).model_copy(update=whole)


def summary_on_wire(run: Run) -> wire.ApprenticeRun:
    """Return a run without its input and answer, and without words of a provider."""
    return wire.ApprenticeRun(
        id=run.id,
        task_id=run.task_id,
        task_name=run.task_name,
        configuration_version=run.configuration_version,
        state=run.state,
        error=_error(run, is_quoted=False),
        routing=_routing(run),
        created_at=run.created_at,
        ended_at=run.ended_at,
        content_deleted_at=run.erased_at,
    )


def problem_of(run: Run) -> AutotuneError | None:
    """Return the error that a caller gets who waited; None where there is an answer, or will be."""
    error = _error(run)
    if error is None or run.refusal is None:
        return None
    detail = f"run {run.id}: {error.message}"
    if run.refusal is Refusal.BUDGET_EXHAUSTED and run.exhausted is not None:
        is_task = run.exhausted.scope == "apprentice_task"
        budget = BudgetProblem(
            scope=run.exhausted.scope,
            task_id=run.task_id if is_task else None,
            period=run.exhausted.period,
            resets_at=run.exhausted.resets_at,
            exceeds_limit=run.exhausted.exceeds_limit,
        )
        return BudgetExhaustedError(detail, budget=budget)
    if run.refusal is Refusal.LOCAL_UNAVAILABLE:
        return LocalUnavailableError(detail)
    return RemoteUnavailableError(detail)


def _error(run: Run, *, is_quoted: bool = True) -> wire.ApprenticeRunError | None:
    if run.refusal is None:
        return None
    message = _MESSAGES[run.refusal]
    fault, budget = run.remote_fault, run.exhausted
    if run.refusal is Refusal.BUDGET_EXHAUSTED and budget is not None:
        whose = "the task's" if budget.scope == "apprentice_task" else "the organisation's"
        until = f"{budget.resets_at:%Y-%m-%dT%H:%M:%SZ}"
        message = f"{message}: {whose} of this {budget.period}, which is over at {until}"
        if budget.exceeds_limit:
            message = f"{message}; one call may cost more than a whole period's limit"
    if run.refusal is Refusal.REMOTE_UNAVAILABLE and fault is not None:
        message = f"{message}: {fault.code}"
        if is_quoted and fault.message:
            message = f"{message}: {fault.message}"
    return wire.ApprenticeRunError(code=run.refusal.value, message=message)


def _routing(run: Run) -> wire.ApprenticeRouting:
    return wire.ApprenticeRouting.model_validate(
        {
            **run.model_dump(
                mode="json",
                include={
                    "phase",
                    "answers",
                    "is_drawn",
                    "in_canary",
                    "local_version",
                    "local",
                    "local_fault",
                    "local_confidence",
                    "shadow_version",
                    "shadow",
                    "shadow_fault",
                    "shadow_confidence",
                    "escalated",
                    "unmonitored",
                    "check",
                    "pairs",
                    "cost_nano_usd",
                },
            ),
            "request_ids": list(run.remote_row_ids),
            "additional_request_ids": [row_id for _, row_id in sorted(run.additional.items())],
        }
    )
