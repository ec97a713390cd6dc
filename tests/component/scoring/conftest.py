from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.scoring import grade_chunk
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.platform import Platform


@dataclass
class Trio:
    """Three graders that judge together, and the tasks that have them do it."""

    platform: Platform
    graders: list[LoopbackGrader]
    ids: list[str] = field(default_factory=list)

    def new_task(self, *weights: float, **fields: Any) -> str:
        """Create a task for as many of the graders as there are weights, for all without any."""
        named = [
            {"graderId": grader_id, "weight": weight}
            for grader_id, weight in zip(self.ids, weights or (1.0, 1.0, 1.0), strict=False)
        ]
        return self.platform.new_task(graders=named, **fields)

    def start(self, task_id: str, *completions: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Submit and dispatch; return what was accepted, and the run of each grader."""
        before = {run["run_id"] for run in self.platform.runs()}
        accepted = self.platform.submit(task_id, *(completions or ({},))).json
        self.platform.dispatch(self.platform.queued())
        started = [run for run in self.platform.runs() if run["run_id"] not in before]
        return accepted, {run["grader_id"]: run for run in started}

    def score(self, task_id: str, *completions: dict[str, Any]) -> list[dict[str, Any]]:
        """Submit, grade everything, and return the verdicts as their organisation reads them."""
        accepted, runs = self.start(task_id, *completions)
        self.platform.finish(runs.values())
        return self.verdicts(accepted)

    def verdicts(self, accepted: Any) -> list[dict[str, Any]]:
        return [self.verdict(id_) for id_ in accepted["completionIds"]]

    def verdict(self, completion_id: str) -> dict[str, Any]:
        answer = self.platform.call("GET", f"/api/v1/completions/{completion_id}/score")
        found: dict[str, Any] = answer.json["verdict"]
        return found


@pytest.fixture
def trio(platform: Platform) -> Iterator[Trio]:
    with ExitStack() as running:
        made = Trio(platform, [running.enter_context(loopback_grader()) for _ in range(3)])
        made.ids = [
            platform.new_grader(grader, capabilities={"maxBatchSize": 50})
            for grader in made.graders
        ]
        yield made


@pytest.fixture
def clock(platform: Platform) -> StandingClock:
    """One clock for rounds, permits and verdicts, turned past each sleep."""
    made = StandingClock()
    parts = grade_chunk.parts()
    parts.grading.clock = parts.permits.clock = parts.writer.clock = made
    return made
