"""Options of graders: what one computes, how often it is called, and how long it may take."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.protocol import limits

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
    typer.Option(
        "--openai", help="The JSON file of a grader of OpenAI's, in place of --builtin or --rubric."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which language model judges, and where it is asked."""

    rubric: Annotated[
        Path | None,
        typer.Option("--rubric", help="A JSON file: what a language model is asked."),
    ] = None
    connection: Annotated[
        str | None,
        typer.Option("--connection", help="Where the model of an --openai file is called: llc_..."),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=limits.MAX_LLM_OUTPUT_TOKENS,
            help="Most tokens of that model's answer; what the file says, or 2048.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How often a grader is called."""

    max_concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=limits.MAX_GRADER_CONCURRENCY, help="Most requests at the same time."
        ),
    ] = None
    requests_per_second: Annotated[
        float | None,
        typer.Option(
            min=limits.MIN_REQUESTS_PER_SECOND,
            max=limits.MAX_REQUESTS_PER_SECOND,
            help="Most requests in a second, evenly spaced.",
        ),
    ] = None
    hedge_after_ms: Annotated[
        int | None,
        typer.Option(
            min=limits.MIN_HEDGE_AFTER_MS,
            max=limits.MAX_HEDGE_AFTER_MS,
            help="Ask once more where an answer takes longer than this.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class WaitOptions:
    """How long a grader that answers later may take."""

    timeout_seconds: Annotated[
        int | None,
        typer.Option(
            "--callback-timeout",
            min=limits.MIN_CALLBACK_TIMEOUT_SECONDS,
            max=limits.MAX_CALLBACK_TIMEOUT_SECONDS,
            help="Seconds in which an answer that comes later has to come; a day without it.",
        ),
    ] = None
    heartbeat_seconds: Annotated[
        int | None,
        typer.Option(
            "--heartbeat",
            min=limits.MIN_HEARTBEAT_SECONDS,
            max=limits.MAX_HEARTBEAT_SECONDS,
            help="Seconds between signs of life while it works on an answer.",
        ),
    ] = None


def json_object_in(file: Path | None, *, option: str) -> dict[str, Any] | None:
    """Return the JSON object that a file holds; None without a file.

    Raises:
        typer.BadParameter: the file cannot be read, or holds something else.
    """
    if file is None:
        return None
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{file}: {error}", param_hint=option) from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f"{file} must hold a JSON object", param_hint=option)
    return value
