"""Progress on stderr, of what takes a while: bars on a terminal, plain lines elsewhere."""

import time
from typing import Self

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from autotune.client import DownloadProgress
from autotune.protocol.deck_runs import DeckRun
from autotune.protocol.exports import ExportDetails
from autotune.protocol.llm_imports import LlmImport

_LINE_EVERY_SECONDS = 2.0


class _BarsOrLines:
    """Bars; where stderr is no terminal, a line every two seconds and one at the end.

    Args:
        columns: of the bars; the time that has passed and that is left follow them.
    """

    def __init__(self, *columns: ProgressColumn) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bars = Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._last_line_at = time.monotonic()
        self._shown = ""
        self._latest = ""

    def print_line(self, text: str) -> None:
        """Print a line of its own after what is there."""
        self._flush()
        self._console.print(text, markup=False, soft_wrap=True)

    def _put(self, text: str) -> None:
        """Take the line that says where it stands now; bars do without it."""
        self._latest = "" if self._console.is_terminal else text
        if time.monotonic() - self._last_line_at >= _LINE_EVERY_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._latest != self._shown:
            self._console.print(self._latest, markup=False, soft_wrap=True)
            self._shown = self._latest
            self._last_line_at = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()
        self._flush()


class SubmissionProgress(_BarsOrLines):
    """How far a submission has come.

    Args:
        total: completions to come, None if nobody knows.
        waits: whether verdicts are waited for.
    """

    def __init__(self, total: int | None, *, waits: bool) -> None:
        super().__init__(TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn())
        self._submitted = self._bars.add_task("submitted", total=total)
        self._decided = self._bars.add_task("verdicts", total=total, visible=waits)
        self._of = "" if total is None else f" of {total}"
        self._waits = waits

    def show(self, *, submitted: int, decided: int) -> None:
        """Show the counts so far."""
        self._bars.update(self._submitted, completed=submitted)
        self._bars.update(self._decided, completed=decided)
        verdicts = f", verdicts {decided}" if self._waits else ""
        self._put(f"submitted {submitted}{self._of}{verdicts}")


class CountProgress(_BarsOrLines):
    """How many of a known number are done.

    Args:
        done: what they are then, such as ``enqueued``.
    """

    def __init__(self, done: str, total: int) -> None:
        super().__init__(TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn())
        self._counted = self._bars.add_task(done, total=total)
        self._done = done
        self._total = total

    def show(self, count: int) -> None:
        """Show the count so far."""
        self._bars.update(self._counted, completed=count)
        self._put(f"{self._done} {count} of {self._total}")


class ImportProgress(_BarsOrLines):
    """How far an import has come, first where its file is uploaded, then where it is taken in.

    Args:
        size: bytes of the file.
    """

    def __init__(self, size: int) -> None:
        figures = TextColumn("{task.fields[figures]}")
        super().__init__(TextColumn("{task.description:<10}"), BarColumn(), figures)
        self._uploading = self._bars.add_task("uploading", total=size, figures="")
        self._importing = self._bars.add_task("importing", total=size, figures="", visible=False)
        self._size = size

    def uploaded(self, count: int) -> None:
        """Show how many bytes are uploaded."""
        figures = f"{decimal(count)} of {decimal(self._size)}"
        self._bars.update(self._uploading, completed=count, figures=figures)
        self._put(f"uploaded {figures}")

    def imported(self, one: LlmImport) -> None:
        """Show how many lines are taken in."""
        counts = one.counts
        figures = f"{counts.enqueued:,} enqueued, {counts.rejected:,} rejected"
        self._bars.update(self._importing, completed=counts.bytes, figures=figures, visible=True)
        because = f" ({one.waiting_because})" if one.waiting_because else ""
        self._put(f"{one.state}: {figures}{because}")


class ExportProgress(_BarsOrLines):
    """How far an export has come, first where it is written, then where it is fetched."""

    def __init__(self) -> None:
        figures = TextColumn("{task.fields[figures]}")
        super().__init__(TextColumn("{task.description:<10}"), BarColumn(), figures)
        self._writing = self._bars.add_task("writing", total=None, figures="")
        self._fetching = self._bars.add_task("fetching", total=None, figures="", visible=False)

    def written(self, export: ExportDetails) -> None:
        """Show how much is written."""
        progress = export.progress
        figures = (
            f"{progress.scanned:,} verdicts read, {progress.records_written:,} records "
            f"in {progress.parts:,} parts"
        )
        # How many will match is known only at the end.
        total, done = (1, 1) if export.completed_at else (None, 0)
        self._bars.update(self._writing, total=total, completed=done, figures=figures)
        self._put(f"{export.state}: {figures}")

    def fetched(self, progress: DownloadProgress) -> None:
        """Show how much is downloaded."""
        figures = (
            f"{decimal(progress.bytes_done)} of {decimal(progress.bytes)}, "
            f"{progress.files_done:,} of {progress.files:,} files"
        )
        self._bars.update(
            self._fetching,
            total=progress.bytes,
            completed=progress.bytes_done,
            figures=figures,
            visible=True,
        )
        self._put(f"downloaded {figures}")


class DeckRunProgress(_BarsOrLines):
    """How many judgements of a run of a deck are made.

    Args:
        total: how many are expected.
    """

    def __init__(self, total: int) -> None:
        super().__init__(TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn())
        self._judged = self._bars.add_task("judged", total=total)
        self._total = total

    def show(self, run: DeckRun) -> None:
        """Show the counts of a run."""
        done = run.counts.expected - run.counts.pending
        because = f" ({run.waiting_because})" if run.waiting_because else ""
        self._bars.update(self._judged, completed=done)
        is_proposal = run.kind == "propose"
        what = "proposing graders" if is_proposal else f"judged {done} of {self._total}"
        self._put(f"{run.status}: {what}{because}")
