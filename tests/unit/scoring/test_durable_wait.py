"""No wake-up of an execution is lost, and none ends a wait too early."""

from dataclasses import dataclass, field
from datetime import datetime

import pytest

from autotune_platform.runs.durable_wait import DurableWait, Wait


@dataclass
class Answers:
    """Answers that an execution waits for, its stored wait, and the tokens that were sent."""

    missing: set[str] = field(default_factory=set)
    stored: Wait[str] | None = None
    sent: list[str] = field(default_factory=list)
    is_gone: bool = False

    def begin_wait(self, awaited: str, token: str, _now: datetime) -> bool:
        self.stored = Wait(token, awaited)
        return True

    def get_wait(self, execution: str) -> Wait[str] | None:
        return self.stored if execution == "run" else None

    def succeed(self, token: str) -> bool:
        self.sent.append(token)
        return not self.is_gone

    def is_awaited(self, awaited: str) -> bool:
        return awaited in self.missing


@pytest.fixture
def answers() -> Answers:
    return Answers(missing={"answer"})


@pytest.fixture
def wait(answers: Answers) -> DurableWait[str]:
    return DurableWait(records=answers, tokens=answers)  # type: ignore[arg-type]


def test_a_wait_ends_with_the_last_answer(answers: Answers, wait: DurableWait[str]) -> None:
    wait.begin("answer", "token", is_awaited=answers.is_awaited)
    assert wait.wake("run", is_awaited=answers.is_awaited) is None
    assert answers.sent == []
    answers.missing.clear()
    assert wait.wake("run", is_awaited=answers.is_awaited) is None
    assert answers.sent == ["token"]


def test_an_answer_just_before_a_wait_ends_it(answers: Answers, wait: DurableWait[str]) -> None:
    answers.missing.clear()
    assert wait.wake("run", is_awaited=answers.is_awaited) is None
    wait.begin("answer", "token", is_awaited=answers.is_awaited)
    assert answers.sent == ["token"]


def test_an_answer_while_a_wait_begins_ends_it(answers: Answers, wait: DurableWait[str]) -> None:
    def answered_meanwhile(awaited: str) -> bool:
        before = answers.is_awaited(awaited)
        answers.missing.clear()
        wait.wake("run", is_awaited=answers.is_awaited)
        return before

    wait.begin("answer", "token", is_awaited=answered_meanwhile)
    assert answers.sent == ["token"]


def test_an_execution_that_is_gone_is_returned(answers: Answers, wait: DurableWait[str]) -> None:
    wait.begin("answer", "token", is_awaited=answers.is_awaited)
    answers.missing.clear()
    answers.is_gone = True
    assert wait.wake("run", is_awaited=answers.is_awaited) == "answer"


def test_nothing_is_woken_that_does_not_wait(answers: Answers, wait: DurableWait[str]) -> None:
    assert wait.wake("other", is_awaited=answers.is_awaited) is None
    assert answers.sent == []
