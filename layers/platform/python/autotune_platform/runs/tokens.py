"""Task tokens of executions that wait."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class TaskTokens:
    """Ends waits of executions, at Step Functions."""

    def __init__(self, *, stepfunctions: "SFNClient") -> None:
        self._stepfunctions = stepfunctions

    def succeed(self, token: str) -> bool:
        """End the wait that a token belongs to; return False where nothing waits for it any more.

        The state machine goes on with the state that it has: the output is of no use to it.
        """
        gone = self._stepfunctions.exceptions
        try:
            self._stepfunctions.send_task_success(taskToken=token, output="{}")
        except (gone.TaskDoesNotExist, gone.TaskTimedOut, gone.InvalidToken):
            return False
        return True
