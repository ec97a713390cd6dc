"""``autotune llm wait`` and ``results``: requests to language models as they end."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, note, require_id, stop
from autotune.cli.llm_pending import PendingRequests
from autotune.cli.llm_rows import AwaitedIds, row_ids
from autotune.cli.llm_spending import dollars
from autotune.cli.progress import CountProgress
from autotune.client import WaitTimeoutError
from autotune.protocol.llm_requests import ENDED_LLM_STATUSES, LlmRequest

Timeout = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Stop waiting so long after; exit status 1 then. Else no limit.",
    ),
]

OfImport = Annotated[
    str | None,
    typer.Option(
        "--import",
        metavar="ID",
        help="Those of this import, once it has ended; of a line that was retried, the retry.",
    ),
]
OfBatch = Annotated[
    str | None, typer.Option("--batch", metavar="ID", help="Those that this batch was made for.")
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
    is_whole: bool = True
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
        is_whole = self.is_whole and self.statuses["completed"] == self.total
        return exit_codes.OK if is_whole else exit_codes.INCOMPLETE

    @property
    def pending(self) -> int:
        """How many have not ended."""
        return self.total - self.statuses.total()


@dataclass(frozen=True)
class _Awaited:
    """Requests that are to be waited for, and for how many seconds more.

    ``is_whole`` is whether they are all that there should be: each line of an import is one.
    """

    ids: list[str]
    timeout: float | None
    is_whole: bool = True


def _awaited(
    invocation: Invocation,
    what: list[str] | None,
    came_with: str | None,
    batch: str | None,
    timeout: float | None,
    *,
    follow: bool,
) -> _Awaited:
    """Return what is meant, once an import has ended that is."""
    if sum(map(bool, (what, came_with, batch))) != 1:
        stop("say which requests are meant: ids or files, or --import, or --batch")
    if what:
        return _Awaited(row_ids(what), timeout)
    if came_with is not None:
        require_id(came_with, "lim", name="import", listed_by="llm imports")
    if batch is not None:
        require_id(batch, "lbt", name="batch", listed_by="llm batches")
    began = time.monotonic()
    ids = invocation.client.llm.request_ids(
        import_id=came_with, batch_id=batch, follow_reasks=follow, timeout=timeout
    )
    left = None if timeout is None else max(0.0, timeout - (time.monotonic() - began))
    is_whole = came_with is None or _is_taken_in(invocation, came_with)
    return _Awaited(ids, left, is_whole)


def _is_taken_in(invocation: Invocation, import_id: str) -> bool:
    """Return whether all lines of an import became requests; say it where some did not."""
    found = invocation.client.llm.get_import(import_id)
    if found.state != "completed":
        note(f"the import ended as {found.state}: {found.error_code or 'somebody deleted it'}")
    if found.counts.rejected:
        note(f"{found.counts.rejected} lines of the import were rejected")
    return found.state == "completed" and not found.counts.rejected


def _ended(
    invocation: Invocation, awaited: _Awaited, ends: _Ends, *, follow: bool
) -> Iterator[LlmRequest]:
    """Yield requests as they end, until all have or the time is up."""
    client = invocation.client
    with CountProgress("ended", len(awaited.ids)) as progress:
        pending = PendingRequests(client, progress, len(awaited.ids))

        def reasked(request: LlmRequest) -> None:
            ends.add_reasked(request)
            pending.reasked(request)

        try:
            ended = client.llm.results(
                awaited.ids,
                timeout=awaited.timeout,
                follow_reasks=follow,
                on_reask=reasked,
                on_pending=pending.look,
            )
            for request in ended:
                ends.add(request)
                pending.ended(request)
                progress.show(ends.statuses.total())
                yield request
        except WaitTimeoutError:
            progress.print_line(
                f"{ends.pending} are still pending; run the same command again to go on waiting"
            )
            pending.say_why()


def wait(
    invocation: Invocation,
    what: AwaitedIds = None,
    *,
    came_with: OfImport = None,
    batch: OfBatch = None,
    timeout: Timeout = None,
    follow: Follow = True,
) -> None:
    """Wait until requests have ended; exit status 1 unless all are completed.

    It says every 30 s what those that are pending wait for.
    """
    awaited = _awaited(invocation, what, came_with, batch, timeout, follow=follow)
    ends = _Ends(len(awaited.ids), awaited.is_whole)
    for _ in _ended(invocation, awaited, ends, follow=follow):
        pass
    last_line = f"completed {ends.statuses['completed']} of {ends.total}"
    if invocation.as_json:
        result: dict[str, Any] = {
            "requests": ends.total,
            **{name: ends.statuses[name] for name in ENDED_LLM_STATUSES},
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
    invocation: Invocation,
    what: AwaitedIds = None,
    *,
    came_with: OfImport = None,
    batch: OfBatch = None,
    timeout: Timeout = None,
    follow: Follow = True,
) -> None:
    """Wait for requests and print each with its texts, as JSON on a line of its own, once it ended.

    Of one that was asked again, the last that came of it; its firstRequestId is the one that was
    named. The exit status is 1 unless all are completed.
    """
    awaited = _awaited(invocation, what, came_with, batch, timeout, follow=follow)
    ends = _Ends(len(awaited.ids), awaited.is_whole)
    for request in _ended(invocation, awaited, ends, follow=follow):
        invocation.show_json(request)
    note(f"completed {ends.statuses['completed']} of {ends.total}")
    raise typer.Exit(ends.exit_code)
