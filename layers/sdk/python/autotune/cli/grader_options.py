"""Options that say what a grader computes, how often it is called, and how long it may take."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.protocol.limits import (
    MAX_CALLBACK_TIMEOUT_SECONDS,
    MAX_GRADER_CONCURRENCY,
    MAX_GRADER_REQUESTS_PER_SECOND,
    MAX_HEARTBEAT_SECONDS,
    MAX_HEDGE_AFTER_MS,
    MIN_CALLBACK_TIMEOUT_SECONDS,
    MIN_GRADER_REQUESTS_PER_SECOND,
    MIN_HEARTBEAT_SECONDS,
    MIN_HEDGE_AFTER_MS,
)

AnswersLater = Annotated[
    bool | None,
    typer.Option("--async/--no-async", help="Whether it may answer 202, and score later."),
]
BuiltinFile = Annotated[
    Path | None,
    typer.Option("--builtin", help="A JSON file: what Autotune computes, without an endpoint."),
]
OpenAiFile = Annotated[
    Path | None,
    typer.Option("--openai", help="The JSON file of a grader of OpenAI's, in place of --builtin."),
]


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How often a grader is called."""

    max_concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_GRADER_CONCURRENCY, help="Most requests at the same time."),
    ] = None
    requests_per_second: Annotated[
        float | None,
        typer.Option(
            min=MIN_GRADER_REQUESTS_PER_SECOND,
            max=MAX_GRADER_REQUESTS_PER_SECOND,
            help="Most requests in a second, evenly spaced.",
        ),
    ] = None
    hedge_after_ms: Annotated[
        int | None,
        typer.Option(
            min=MIN_HEDGE_AFTER_MS,
            max=MAX_HEDGE_AFTER_MS,
            help="Ask once more where an answer takes longer than this.",
        ),
    ] = None

    def given(self) -> dict[str, Any] | None:
        """Return the limits that were given, None where none was: some graders have none."""
        return only_given(asdict(self))


@dataclass(frozen=True, kw_only=True)
class WaitOptions:
    """How long a grader that answers later may take."""

    callback_timeout: Annotated[
        int | None,
        typer.Option(
            min=MIN_CALLBACK_TIMEOUT_SECONDS,
            max=MAX_CALLBACK_TIMEOUT_SECONDS,
            help="Seconds in which an answer that comes later has to come; a day without it.",
        ),
    ] = None
    heartbeat: Annotated[
        int | None,
        typer.Option(
            min=MIN_HEARTBEAT_SECONDS,
            max=MAX_HEARTBEAT_SECONDS,
            help="Seconds between signs of life while it works on an answer.",
        ),
    ] = None

    def given(self) -> dict[str, Any] | None:
        """Return the settings that were given, None where none was: some graders have none."""
        return only_given(
            {"timeout_seconds": self.callback_timeout, "heartbeat_seconds": self.heartbeat}
        )


def only_given(options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the options that are not None; None where there are none."""
    return {name: value for name, value in options.items() if value is not None} or None
