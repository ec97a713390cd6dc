"""Has the code of functions unpacked once, rather than for each worker.

MiniStack unpacks a function's code and layers anew for each worker that it starts: 1,650 files and
0.15 s of CPU here, in the process that serves everything else, and as many files to remove when it
stops. On AWS they are mounted, and cannot be written either.
"""

import hashlib
import tempfile
import zipfile
from pathlib import Path
from threading import Lock
from types import SimpleNamespace, TracebackType

from ministack.core import lambda_runtime

_lock = Lock()


def install() -> None:
    """Change the MiniStack of this process."""
    # What it takes from the module, by the names that it takes it by.
    lambda_runtime.zipfile = SimpleNamespace(
        ZipFile=LinkedArchive,
        BadZipFile=zipfile.BadZipFile,
        LargeFileError=zipfile.LargeZipFile,
    )


class LinkedArchive:
    """An archive as MiniStack's workers use it; they get links to what was unpacked before.

    Args:
        file: the archive.
    """

    def __init__(self, file: str) -> None:
        self._file = Path(file)

    def __enter__(self) -> "LinkedArchive":
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing is open."""

    def namelist(self) -> list[str]:
        """Return no names: MiniStack only looks for those that lead out, which are not followed."""
        return []

    def extractall(self, folder: str) -> None:
        """Link a folder to what the archive holds.

        Raises:
            zipfile.BadZipFile: it is no archive.
        """
        for unpacked in _unpacked(self._file).iterdir():
            (Path(folder) / unpacked.name).symlink_to(unpacked)


def _unpacked(file: Path) -> Path:
    """Return the folder with an archive's files, which are unpacked if they were not before."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    folder = Path(tempfile.gettempdir()) / "unpacked" / digest
    with _lock:
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            with zipfile.ZipFile(file) as archive:
                archive.extractall(unfinished)
            unfinished.rename(folder)
    return folder
