"""Tasks of the apprentice in later phases, whose small model says what a test wants."""

from datetime import UTC, datetime, timedelta
from typing import Any

from autotune_platform.apprentice.local.contract import LocalAnswer, LocalQuestion, Unavailable
from autotune_platform.apprentice.runs.models import Run
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import ANSWER, Runs
from tests.support.lambdas import forget_processes

OTHER = '{"intent":"close_door"}'
ALL_CHECKED = {"decay": "exponential", "minFloor": 1}
NONE_CHECKED = {"decay": "exponential", "k": 100, "minFloor": 0.001}
DAY = {"daily": "10"}
NO_ROOM = {"daily": "0.000001"}


class Small:
    """The small model: what each version says, by its name."""

    def __init__(self) -> None:
        self.says: dict[str, LocalAnswer | Unavailable | str] = {}
        self.asked: list[tuple[str, LocalQuestion, int]] = []

    def client_for(self, configuration: Any, served: Any) -> Any:
        small = self

        class Client:
            def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer | Unavailable:
                small.asked.append((served.model, question, timeout_ms))
                said = small.says.get(served.model, ANSWER)
                return LocalAnswer(said, served.model, None, 5) if isinstance(said, str) else said

        return Client()


class Phased:
    """A task in a later phase."""

    def __init__(self, runs: Runs, small: Small) -> None:
        self.runs = runs
        self.small = small
        self.task = Apprentice(runs.platform, runs.connection_id)

    def shadowed(self, **fields: Any) -> None:
        """Bring the task to phase 2: there are examples, and a version."""
        self.task.put(**{"budgets": DAY, **fields})
        self.task.add_version(1)
        self._learn(60, score=0.9)

    def served(self, **fields: Any) -> None:
        """Bring the task to phase 3: the version has graduated, and passed its canary."""
        self.task.put(**{"budgets": DAY, "sampling": NONE_CHECKED, **fields})
        self.task.add_version(1)
        self._learn(200, score=1.0)
        self.task.add_version(1, canary_at=200)
        forget_processes()

    def _learn(self, runs: int, *, score: float) -> None:
        now = datetime.now(UTC) - timedelta(minutes=5)
        self.task.store([self.task.answered(score, created_at=now) for _ in range(runs)])
        self.task.follow()
        forget_processes()

    def ran(self, **options: Any) -> dict[str, Any]:
        answer = self.runs.start(wait=20, **options)
        assert answer.status == 200, answer.text
        run: dict[str, Any] = answer.json["run"]
        return run

    def stored(self, run_id: str) -> Run:
        found = self.runs.stored(run_id)
        assert found is not None
        return found

    @property
    def status(self) -> dict[str, Any]:
        answer = self.runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/status")
        status: dict[str, Any] = answer.json["status"]
        return status

    @property
    def paid(self) -> int:
        executions: int = self.runs.bill["executions"]
        return executions
