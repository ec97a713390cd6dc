"""No wake-up of an execution is lost, and none ends a wait too early."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from autotune_platform.runs.models import RunStatus, Wait
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.waits import RunWaits

RUN = ChunkProgress(
    organization_id="org",
    grader_id="grd",
    grader_version="1",
    run_id="run",
    completion_ids=[],
    remaining=0,
    waiting_ids=["answer"],
)


@dataclass
class Answers:
    """Answers that a run waits for, its stored wait, the tokens that were sent, and its ends."""

    missing: set[str] = field(default_factory=set)
    stored: Wait | None = None
    sent: list[str] = field(default_factory=list)
    ends: list[RunStatus] = field(default_factory=list)
    is_gone: bool = False
    meanwhile: Callable[[], None] | None = None

    def begin_wait(self, progress: ChunkProgress, token: str, _now: datetime) -> bool:
        self.stored = Wait(token, progress)
        return True

    def get_wait(self, run_id: str) -> Wait | None:
        return self.stored if run_id == "run" else None

    def get(self, run_id: str) -> Any:
        return SimpleNamespace(id=run_id, organization_id="org", completion_ids=[], attempt=0)

    def change(self, run_id: str, organization_id: str, status: RunStatus) -> bool:
        self.ends.append(status)
        return True

    def undecided(self, completion_ids: Sequence[str], asker: ChunkProgress) -> list[str]:
        return [id_ for id_ in completion_ids if id_ in self.missing]

    def succeed(self, token: str) -> bool:
        self.sent.append(token)
        return not self.is_gone

    def awaited(self, completion_ids: Sequence[str], asker: ChunkProgress) -> set[str]:
        before = self.missing.intersection(completion_ids)
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            happens()
        return before


@pytest.fixture
def answers() -> Answers:
    return Answers(missing={"answer"})


@pytest.fixture
def waits(answers: Answers) -> RunWaits:
    parts: Any = answers
    return RunWaits(repository=parts, verdicts=parts, tokens=parts, signals=[parts])


def test_a_wait_ends_with_the_last_answer(answers: Answers, waits: RunWaits) -> None:
    waits.begin(RUN, "token")
    waits.wake("run")
    assert answers.sent == []
    answers.missing.clear()
    waits.wake("run")
    assert answers.sent == ["token"]
    assert answers.ends == []


def test_an_answer_just_before_a_wait_ends_it(answers: Answers, waits: RunWaits) -> None:
    answers.missing.clear()
    waits.wake("run")
    waits.begin(RUN, "token")
    assert answers.sent == ["token"]


def test_an_answer_while_a_wait_begins_ends_it(answers: Answers, waits: RunWaits) -> None:
    def answered() -> None:
        answers.missing.clear()
        waits.wake("run")

    answers.meanwhile = answered
    waits.begin(RUN, "token")
    assert answers.sent == ["token"]


def test_a_run_whose_execution_is_gone_is_ended(answers: Answers, waits: RunWaits) -> None:
    waits.begin(RUN, "token")
    answers.missing.clear()
    answers.is_gone = True
    waits.wake("run")
    assert [end.state for end in answers.ends] == ["completed"]


def test_nothing_is_woken_that_does_not_wait(answers: Answers, waits: RunWaits) -> None:
    waits.wake("other")
    assert answers.sent == []
