"""Has the code of functions unpacked once, rather than for each worker.

MiniStack unpacks a function's code and layers anew for each worker that it starts: 1,650 files and
0.15 s of CPU here, in the process that serves everything else, and as many files to remove when it
stops. On AWS they are mounted, and cannot be written either.

What is unpacked stays for the next start, with what Python compiled of it: nothing is removed while
somebody waits for the stack to stop.
"""

import hashlib
import os
import shutil
import zipfile
from pathlib import Path
from threading import Lock
from types import SimpleNamespace, TracebackType

from ministack.core import lambda_runtime

UNPACKED_FOLDER = "unpacked"
KEPT = 12
"""Archives that are kept for the next start: those of today's code, and of a few days before."""

_UNFINISHED = ".unfinished"


def install(folder: Path) -> None:
    """Change the MiniStack of this process.

    Args:
        folder: Where code is unpacked.
    """
    # What it takes from the module, by the names that it takes it by.
    lambda_runtime.zipfile = SimpleNamespace(
        ZipFile=UnpackedCode(folder).opened,
        BadZipFile=zipfile.BadZipFile,
        LargeFileError=zipfile.LargeZipFile,
    )


class UnpackedCode:
    """Archives that are unpacked once, whoever wants them.

    Args:
        folder: Where they are unpacked; all but those that were wanted last are removed first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        folder.mkdir(exist_ok=True)
        self._remove_old()

    def opened(self, file: str) -> "LinkedArchive":
        """Return an archive as MiniStack's workers use it."""
        return LinkedArchive(Path(file), self)

    def of(self, file: Path) -> Path:
        """Return the folder with an archive's files, which are unpacked if they were not before.

        Raises:
            zipfile.BadZipFile: it is no archive.
        """
        folder = self._folder / hashlib.sha256(file.read_bytes()).hexdigest()
        with self._lock:
            if not folder.exists():
                unfinished = folder.with_suffix(_UNFINISHED)
                with zipfile.ZipFile(file) as archive:
                    archive.extractall(unfinished)
                unfinished.rename(folder)
        os.utime(folder)
        return folder

    def _remove_old(self) -> None:
        there = {*self._folder.iterdir()}
        finished = [each for each in there if each.suffix != _UNFINISHED]
        kept = sorted(finished, key=lambda each: each.stat().st_mtime)[-KEPT:]
        for each in there.difference(kept):
            shutil.rmtree(each, ignore_errors=True)


class LinkedArchive:
    """An archive as MiniStack's workers use it; they get links to what was unpacked before.

    Args:
        file: the archive.
        code: what was unpacked before.
    """

    def __init__(self, file: Path, code: UnpackedCode) -> None:
        self._file = file
        self._code = code

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
        for unpacked in self._code.of(self._file).iterdir():
            (Path(folder) / unpacked.name).symlink_to(unpacked)
