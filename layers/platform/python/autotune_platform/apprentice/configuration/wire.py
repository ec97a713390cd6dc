"""Tasks of the apprentice as callers see them."""

from autotune.protocol import apprentice_tasks as wire
from autotune.protocol.apprentice_spend import ApprenticeBudgetUse, ApprenticeSpend
from autotune_platform.apprentice.configuration.models import (
    ApprenticeTask,
    Configuration,
    ConfiguredTask,
)
from autotune_platform.budgets.scopes import PeriodUse
from autotune_platform.budgets.task_money import TaskSpend


def task_on_wire(configured: ConfiguredTask) -> wire.ApprenticeTask:
    """Return a task with its present configuration."""
    task = configured.task
    return wire.ApprenticeTask(
        id=task.id,
        name=task.name,
        version=task.version,
        definition_hash=task.definition_hash,
        configuration=_document_of(configured.configuration),
        spend=spend_on_wire(configured.spend),
        created_at=task.created_at,
        created_by=task.created_by,
        updated_at=task.updated_at,
    )


def spend_on_wire(spend: TaskSpend) -> ApprenticeSpend:
    """Return what a task has spent."""
    periods = [use_on_wire(use) for use in spend.uses]
    because = "above_bound" if spend.halted == "above_bound" else None
    return ApprenticeSpend(periods=periods, halted_because=because, halted_by=spend.halted_by)


def use_on_wire(use: PeriodUse) -> ApprenticeBudgetUse:
    """Return what a period has used."""
    return ApprenticeBudgetUse(
        period=use.period,
        name=use.name,
        limit_nano_usd=use.limit,
        spent_nano_usd=use.spent,
        reserved_nano_usd=use.reserved,
    )


def summary_on_wire(task: ApprenticeTask) -> wire.ApprenticeTaskSummary:
    """Return a task without its configuration."""
    return wire.ApprenticeTaskSummary.model_validate(task.model_dump())


def configuration_on_wire(configuration: Configuration) -> wire.ApprenticeConfiguration:
    """Return one version of a configuration."""
    return wire.ApprenticeConfiguration(
        version=configuration.version,
        definition_hash=configuration.definition_hash,
        configuration=_document_of(configuration),
        created_at=configuration.created_at,
        created_by=configuration.created_by,
    )


def _document_of(configuration: Configuration) -> wire.PutApprenticeTaskRequest:
    return wire.PutApprenticeTaskRequest.model_validate(configuration.document)
