"""Progress of an export on stderr: bars on a terminal, plain lines elsewhere."""

from typing import Protocol, Self

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autotune.cli.progress import PacedLines
from autotune.client import DownloadProgress
from autotune.protocol.exports import ExportDetails


class ExportProgress(Protocol):
    """Is told how far an export has come, first where it is written, then where it is fetched."""

    def written(self, export: ExportDetails) -> None:
        """Show how much is written."""
        ...

    def fetched(self, progress: DownloadProgress) -> None:
        """Show how much is downloaded."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def export_progress() -> ExportProgress:
    """Return what suits stderr."""
    console = Console(stderr=True, highlight=False)
    return _Bars(console) if console.is_terminal else _Lines(console)


class _Bars:
    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            TextColumn("{task.fields[told]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._writing = self._progress.add_task("writing", total=None, told="")
        self._fetching = self._progress.add_task("fetching", total=None, told="", visible=False)

    def written(self, export: ExportDetails) -> None:
        # How many will match is known only at the end.
        total = 1 if export.completed_at else None
        done = 1 if export.completed_at else 0
        self._progress.update(self._writing, total=total, completed=done, told=_written(export))

    def fetched(self, progress: DownloadProgress) -> None:
        self._progress.update(
            self._fetching,
            total=progress.bytes,
            completed=progress.bytes_done,
            told=_fetched(progress),
            visible=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()


class _Lines(PacedLines):
    def written(self, export: ExportDetails) -> None:
        self.put(f"{export.state}: {_written(export)}")

    def fetched(self, progress: DownloadProgress) -> None:
        self.put(f"downloaded {_fetched(progress)}")


def _written(export: ExportDetails) -> str:
    progress = export.progress
    return (
        f"{progress.scanned:,} verdicts read, {progress.records_written:,} records "
        f"in {progress.parts:,} parts"
    )


def _fetched(progress: DownloadProgress) -> str:
    return (
        f"{decimal(progress.bytes_done)} of {decimal(progress.bytes)}, "
        f"{progress.files_done:,} of {progress.files:,} files"
    )
