"""``autotune llm wait`` and ``results``: requests to language models as they end."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, note
from autotune.cli.llm_rows import RowIds, row_ids
from autotune.cli.llm_spending import dollars
from autotune.cli.progress import CountProgress
from autotune.client import WaitTimeoutError
from autotune.protocol.llm_requests import LlmRequest

Timeout = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Stop waiting so long after; exit status 1 then. Else no limit.",
    ),
]


Follow = Annotated[
    bool,
    typer.Option(
        "--follow/--no-follow",
        help="Take the last of those that were asked again for a verdict that cannot be read, or "
        "just what is named.",
    ),
]


@dataclass
class _Ends:
    """What became of requests that are waited for."""

    total: int
    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    cost: int = 0
    reasked: int = 0

    def add_reasked(self, request: LlmRequest) -> None:
        """Count one in whose place another is waited for; it was paid all the same."""
        self.reasked += 1
        self.cost += request.cost_nano_usd or 0

    def add(self, request: LlmRequest) -> None:
        """Count one that has ended."""
        self.statuses[request.status] += 1
        self.cost += request.cost_nano_usd or 0
        if request.error is not None:
            self.errors[request.error.code] += 1

    @property
    def exit_code(self) -> int:
        """Whether all are completed."""
        is_whole = self.statuses["completed"] == self.total
        return exit_codes.OK if is_whole else exit_codes.INCOMPLETE

    @property
    def pending(self) -> int:
        """How many have not ended."""
        return self.total - self.statuses.total()


def _ended(
    invocation: Invocation, ids: list[str], ends: _Ends, timeout: float | None, *, follow: bool
) -> Iterator[LlmRequest]:
    """Yield requests as they end, until all have or the time is up."""
    with CountProgress("ended", len(ids)) as progress:
        try:
            ended = invocation.client.llm.results(
                ids, timeout=timeout, follow_reasks=follow, on_reask=ends.add_reasked
            )
            for request in ended:
                ends.add(request)
                progress.show(ends.statuses.total())
                yield request
        except WaitTimeoutError:
            progress.print_line(
                f"{ends.pending} are still pending; run the same command again to go on waiting"
            )


def wait(
    invocation: Invocation, what: RowIds, *, timeout: Timeout = None, follow: Follow = True
) -> None:
    """Wait until requests have ended; exit status 1 unless all are completed."""
    ids = row_ids(what)
    ends = _Ends(len(ids))
    for _ in _ended(invocation, ids, ends, timeout, follow=follow):
        pass
    last_line = f"completed {ends.statuses['completed']} of {ends.total}"
    if invocation.as_json:
        result: dict[str, Any] = {
            "requests": ends.total,
            **{name: ends.statuses[name] for name in ("completed", "error", "canceled")},
            "pending": ends.pending,
            "reasked": ends.reasked,
            "errors": dict(ends.errors),
            "costNanoUsd": ends.cost,
        }
        invocation.show_json(result)
        note(last_line)
    else:
        for name, count in [*ends.statuses.items(), *ends.errors.items()]:
            typer.echo(f"{name:<16} {count}")
        if ends.reasked:
            typer.echo(f"{'asked again':<16} {ends.reasked}")
        typer.echo(f"{'USD':<16} {dollars(ends.cost)}")
        typer.echo(last_line)
    raise typer.Exit(ends.exit_code)


def results(
    invocation: Invocation, what: RowIds, *, timeout: Timeout = None, follow: Follow = True
) -> None:
    """Wait for requests and print each with its texts, as JSON on a line of its own, once it ended.

    Of one that was asked again, the last that came of it; its firstRequestId is the one that was
    named. The exit status is 1 unless all are completed.
    """
    ids = row_ids(what)
    ends = _Ends(len(ids))
    for request in _ended(invocation, ids, ends, timeout, follow=follow):
        invocation.show_json(request)
    note(f"completed {ends.statuses['completed']} of {ends.total}")
    raise typer.Exit(ends.exit_code)
