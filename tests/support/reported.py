"""What is told of a task of the apprentice, and runs to tell of."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.routing import Model
from tests.support.apprentice_folding import Apprentice

LOCAL: dict[str, Any] = {"answers": Model.LOCAL, "phase": 3, "cost_nano_usd": 0}
UNCHECKED: dict[str, Any] = {**LOCAL, "remote": None, "is_drawn": False}


def now() -> datetime:
    return datetime.now(UTC)


def ended(apprentice: Apprentice, *scores: float, **fields: Any) -> Any:
    return apprentice.answered(*scores, **{"created_at": now(), **fields})


def happened(apprentice: Apprentice, runs: Iterable[Any]) -> None:
    apprentice.store(runs)
    apprentice.follow()


def examples(apprentice: Apprentice, number: int = 50, **fields: Any) -> list[Any]:
    """Return runs of phase 1, which the paid model answered alone."""
    return [ended(apprentice, local=None, phase=1, **fields) for _ in range(number)]


def read(apprentice: Apprentice, what: str, **query: Any) -> Any:
    answer = apprentice.platform.call(
        "GET", f"/api/v1/apprentice/tasks/{apprentice.name}/{what}", query=query
    )
    assert answer.status == 200, answer.text
    return answer.json[what]


def stored(apprentice: Apprentice, version: int = 1) -> StoredEvidence:
    return apprentice.evidence.find(apprentice.task.id, [version])[version]


def alerts(status: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(one["kind"], one["version"]) for one in status["alerts"]]
