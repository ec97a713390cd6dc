"""Events of budgets, of organisations and of their apprentice's tasks."""

from datetime import datetime
from typing import Any, Final

from autotune.protocol.events import EventType
from autotune.protocol.ids import derived_id
from autotune.protocol.llm_events import BudgetExhausted, BudgetWarning
from autotune_platform.budgets.scopes import PeriodUse, Standing
from autotune_platform.budgets.uses import organization_of, task_of
from autotune_platform.webhooks.models import Event

EXHAUSTED: Final = "budget.exhausted"
WARNING: Final = "budget.warning"


def budget_exhausted(scope: str, standing: Standing, use: PeriodUse, now: datetime) -> Event:
    """Return the event ``budget.exhausted`` of a period that has a limit."""
    return Event(
        type="budget.exhausted",
        data=_data(BudgetExhausted, scope, standing, use),
        **_head(EXHAUSTED, scope, use, now),
    )


def budget_warning(scope: str, standing: Standing, use: PeriodUse, now: datetime) -> Event:
    """Return the event ``budget.warning`` of a period that has a limit."""
    return Event(
        type="budget.warning",
        data=_data(BudgetWarning, scope, standing, use),
        **_head(WARNING, scope, use, now),
    )


def _head(event_type: EventType, scope: str, use: PeriodUse, now: datetime) -> dict[str, Any]:
    return {
        "id": derived_id("evt", event_type, scope, f"{use.period}#{use.name}"),
        "organization_id": organization_of(scope),
        "occurred_at": now,
    }


def _data(
    model: type[BudgetExhausted | BudgetWarning], scope: str, standing: Standing, use: PeriodUse
) -> dict[str, Any]:
    assert use.limit is not None
    task = task_of(scope)
    data = model(
        scope="organization" if task is None else "apprentice_task",
        task_id=task,
        task_name=standing.task_name,
        period=use.period,
        name=use.name,
        limit_nano_usd=use.limit,
        spent_nano_usd=use.spent,
        reserved_nano_usd=use.reserved,
    )
    return data.model_dump(mode="json", by_alias=True, exclude_none=True)
