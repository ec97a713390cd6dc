"""Has MiniStack end a task after the seconds that ``TimeoutSecondsPath`` leads to.

MiniStack knows ``TimeoutSeconds`` alone. Without this a run that waits with a token waits for a
signal for ever, and does not look by itself for what comes without one, such as a model's answer.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ministack.services import stepfunctions

Execute = Callable[[dict[str, Any], Any, dict[str, Any], dict[str, Any]], tuple[Any, str | None]]


def install() -> None:
    """Change the MiniStack of this process."""
    stepfunctions._execute_task = with_timeout(  # noqa: SLF001 - it has no setting
        stepfunctions._execute_task  # noqa: SLF001
    )


def with_timeout(execute: Execute) -> Execute:
    """Have a task's state know the seconds that its path leads to."""

    @wraps(execute)
    def execute_with_timeout(
        state: dict[str, Any], given: Any, execution: dict[str, Any], context: dict[str, Any]
    ) -> tuple[Any, str | None]:
        path = state.get("TimeoutSecondsPath")
        if path is not None:
            seconds = stepfunctions._resolve_path_or_ctx(path, given, context)  # noqa: SLF001
            state = {**state, "TimeoutSeconds": seconds}
        return execute(state, given, execution, context)

    return execute_with_timeout
