"""Completions that were scored earlier than now, so that figures over time have a past."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Table
from autotune_platform.windows.grains import Grain
from tests.support.platform import Platform


@contextmanager
def counted_earlier(hours: float) -> Iterator[None]:
    """Have what is counted by time until the block is left count as of so many hours ago."""
    bucket = Grain.bucket
    back = timedelta(hours=hours)
    with patch.object(Grain, "bucket", lambda grain, moment: bucket(grain, moment - back)):
        yield


def scored(
    platform: Platform, task_id: str, *completions: dict[str, Any], hours_ago: float = 0
) -> list[str]:
    """Submit completions, have them scored and counted; return their ids."""
    with counted_earlier(hours_ago):
        accepted = platform.submit(task_id, *completions)
        assert accepted.status == 202, accepted.text
        platform.score_everything()
        platform.project()
    ids: list[str] = accepted.json["completionIds"]
    return ids


def overdue(platform: Platform, task_id: str, *, minutes: int = 5) -> str:
    """Submit a completion whose batch is overdue for so long; return the batch's id."""
    batch_id: str = platform.submit(task_id, {}).json["batchId"]
    since = datetime.now(UTC) - timedelta(minutes=minutes)
    table = Table("completions", clients.dynamodb())
    table.update(batch_id, "batch", {"due_at": moment(since), "sweeps": 2})
    return batch_id


def circuit_opened(grader_id: str, reason: str = "grader_error") -> None:
    """Open the circuit of a grader, as a call does that found it down."""
    now = datetime.now(UTC).timestamp()
    BudgetRepository(Table("budgets", clients.dynamodb())).change_circuit(
        grader_id, now, lambda circuit: (circuit.opened(now, reason), None)
    )
