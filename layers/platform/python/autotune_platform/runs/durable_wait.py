"""Waits of executions: without compute, for as long as it takes, ended by one token each.

Whatever ends a wait is recorded before the wait is looked up, and a wait is stored before what it
waits for is looked up. So one of the two always sees the other, and no wake-up is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

AwaitedT = TypeVar("AwaitedT")


@dataclass(frozen=True)
class Wait(Generic[AwaitedT]):
    """An execution that waits.

    Attributes:
        token: ends the wait; a capability, for Step Functions alone.
        awaited: what was stored of what it waits for.
    """

    token: str
    awaited: AwaitedT


class WaitRecords(Protocol[AwaitedT]):
    """Where waits are stored, at most one for each execution."""

    def begin_wait(self, awaited: AwaitedT, token: str, now: datetime, /) -> bool:
        """Store a wait; return False where the execution is known to be over."""

    def get_wait(self, execution: str, /) -> Wait[AwaitedT] | None:
        """Return what an execution waits for now; None where it does not wait."""


@part
class TaskTokens:
    """Ends waits of executions by their task tokens, at Step Functions."""

    stepfunctions: "SFNClient"

    def succeed(self, token: str) -> bool:
        """End the wait that a token belongs to; return False where nothing waits for it any more.

        The state machine goes on with the state that it has: the output is of no use to it.
        """
        gone = self.stepfunctions.exceptions
        try:
            self.stepfunctions.send_task_success(taskToken=token, output="{}")
        except (gone.TaskDoesNotExist, gone.TaskTimedOut, gone.InvalidToken):
            return False
        return True


@part
class DurableWait(Generic[AwaitedT]):
    """Begins waits, and ends those that wait for nothing any more."""

    records: WaitRecords[AwaitedT]
    tokens: TaskTokens
    clock: Clock = SYSTEM_CLOCK

    def begin(
        self, awaited: AwaitedT, token: str, *, is_awaited: Callable[[AwaitedT], bool]
    ) -> None:
        """Store a wait, and end it at once where nothing is awaited any more.

        What came just before had no token to wake the execution with.
        """
        self.records.begin_wait(awaited, token, self.clock.now())
        if not is_awaited(awaited):
            self.tokens.succeed(token)

    def wake(self, execution: str, *, is_awaited: Callable[[AwaitedT], bool]) -> AwaitedT | None:
        """End an execution's wait unless something is still awaited.

        Returns:
            What it waited for, where the execution is gone and cannot go on; else None.
        """
        wait = self.records.get_wait(execution)
        if wait is None or is_awaited(wait.awaited) or self.tokens.succeed(wait.token):
            return None
        return wait.awaited
