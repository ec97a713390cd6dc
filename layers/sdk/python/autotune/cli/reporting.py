"""Turns errors into one line and an exit status."""

from typing import Any

import typer
from typer.core import TyperGroup

from autotune.cli.exit_codes import INTERRUPTED, exit_code_of
from autotune.cli.invocation import note, stop
from autotune.client import APIError, AutotuneError

_HINTS = {
    "idempotency_key_reused": (
        "these completions were submitted before with another --priority; "
        "give --submission NAME to submit them once more"
    ),
    "grader_not_verified": "that is what `autotune graders verify` does",
    "unauthenticated": "check the key and that the base URL belongs to it",
}


class ReportingGroup(TyperGroup):
    """The root of the commands: what they let escape is told here, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except AutotuneError as error:
            stop(describe(error), exit_code_of(error))
        except KeyboardInterrupt:
            note("autotune: interrupted")
            raise typer.Exit(INTERRUPTED) from None


def describe(error: AutotuneError) -> str:
    """Return one line: what the error says, its notes, and what may help."""
    parts = [str(error), *getattr(error, "__notes__", [])]
    if isinstance(error, APIError) and error.code in _HINTS:
        parts.append(_HINTS[error.code])
    return "; ".join(" ".join(part.split()) for part in parts)
