"""Progress of a submission on stderr: bars on a terminal, plain lines elsewhere."""

import time
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_LINE_EVERY_SECONDS = 2.0


class SubmissionProgress(Protocol):
    """Is told how far a submission has come."""

    def show(self, *, submitted: int, decided: int) -> None:
        """Show the counts so far."""
        ...

    def tell(self, text: str) -> None:
        """Print a line of its own."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def submission_progress(total: int | None, *, waits: bool) -> SubmissionProgress:
    """Return what suits stderr.

    Args:
        total: completions to come, None if nobody knows.
        waits: whether verdicts are waited for.
    """
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        return _Bars(console, total, waits=waits)
    return _Lines(console, total, waits=waits)


class _Bars:
    def __init__(self, console: Console, total: int | None, *, waits: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._submitted = self._progress.add_task("submitted", total=total)
        self._decided = self._progress.add_task("verdicts", total=total) if waits else None

    def show(self, *, submitted: int, decided: int) -> None:
        self._progress.update(self._submitted, completed=submitted)
        if self._decided is not None:
            self._progress.update(self._decided, completed=decided)

    def tell(self, text: str) -> None:
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()


class PacedLines:
    """Prints where something stands every two seconds, and where it stood in the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last_line_at = time.monotonic()
        self._shown = ""
        self._latest = ""

    def put(self, text: str) -> None:
        """Take where it stands now."""
        self._latest = text
        if time.monotonic() - self._last_line_at >= _LINE_EVERY_SECONDS:
            self.flush()

    def tell(self, text: str) -> None:
        """Print a line of its own after what is there."""
        self.flush()
        self._console.print(text, markup=False, soft_wrap=True)

    def flush(self) -> None:
        """Print the latest unless it is printed."""
        if self._latest != self._shown:
            self._console.print(self._latest, markup=False, soft_wrap=True)
            self._shown = self._latest
            self._last_line_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()


class _Lines(PacedLines):
    def __init__(self, console: Console, total: int | None, *, waits: bool) -> None:
        super().__init__(console)
        self._of = "" if total is None else f" of {total}"
        self._waits = waits

    def show(self, *, submitted: int, decided: int) -> None:
        verdicts = f", verdicts {decided}" if self._waits else ""
        self.put(f"submitted {submitted}{self._of}{verdicts}")
