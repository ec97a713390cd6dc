"""Options of a connection that limit its batch jobs, and say how long is waited for them."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from autotune.cli.invocation import only_given


@dataclass(frozen=True, kw_only=True)
class JobLimitOptions:
    """What the provider's jobs of a connection may be together."""

    enqueued_tokens: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=TOKENS",
            help="Most tokens of input in jobs that have not ended, a byte as a token. May be "
            "repeated, for all models that have such a limit.",
        ),
    ] = None
    enqueued_rows: Annotated[
        int | None, typer.Option(min=1, help="Most requests in jobs that have not ended.")
    ] = None
    open_jobs: Annotated[int | None, typer.Option(min=1, help="Most jobs that have not ended.")] = (
        None
    )
    creations_per_hour: Annotated[
        int | None, typer.Option(min=1, help="Most jobs that are asked for within an hour.")
    ] = None
    default_limits: Annotated[
        bool, typer.Option("--default-limits", help="The provider's limits, but those given here.")
    ] = False

    def given(self) -> dict[str, Any] | None:
        """Return those that were given; None where none was."""
        named = asdict(self)
        if self.enqueued_tokens is not None:
            named["enqueued_tokens"] = dict(_tokens(one) for one in self.enqueued_tokens)
        return _named(named, "default_limits")


@dataclass(frozen=True, kw_only=True)
class JobTimingOptions:
    """How long is waited for what of a provider's job."""

    poll_least_seconds: Annotated[
        int | None, typer.Option(help="Between two looks at a job at least; else 60.")
    ] = None
    poll_most_seconds: Annotated[
        int | None, typer.Option(help="Between two looks at a job at most; else 1,800.")
    ] = None
    visibility_seconds: Annotated[
        int | None,
        typer.Option(help="A job that is in no list by then is created again; else 900."),
    ] = None
    patience_seconds: Annotated[
        int | None,
        typer.Option(help="For how long an old job must not be seen to be given up; else 900."),
    ] = None
    lost_after_seconds: Annotated[
        int | None, typer.Option(help="How old such a job is at least; else 259200.")
    ] = None
    results_within_seconds: Annotated[
        int | None, typer.Option(help="For how long results are waited for; else 3600.")
    ] = None
    overdue_seconds: Annotated[
        int | None, typer.Option(help="So long after its time a job is asked to end; else 3600.")
    ] = None
    put_off_seconds: Annotated[
        int | None,
        typer.Option(help="For how long requests wait that were too many at the time; else 600."),
    ] = None
    default_timings: Annotated[
        bool, typer.Option("--default-timings", help="The usual timings, but those given here.")
    ] = False

    def given(self) -> dict[str, Any] | None:
        """Return those that were given; None where none was."""
        return _named(asdict(self), "default_timings")


def _named(named: dict[str, Any], reset: str) -> dict[str, Any] | None:
    """Return options that were given; with ``reset``, all others as None, which is the default."""
    return named if named.pop(reset) else only_given(named)


def _tokens(text: str) -> tuple[str, int]:
    model, _, number = text.rpartition("=")
    if not model or not (number.isascii() and number.isdigit()):
        raise typer.BadParameter(
            f"{text}: expected MODEL=TOKENS, such as gpt-5=900000", param_hint="--enqueued-tokens"
        )
    return model, int(number)
