"""Where files of exports lie while they are made.

A process that is killed cleans nothing up, and a function's next process finds what it left: texts
of another organisation, and less disk. So each folder is locked while somebody lives who works in
it, and whoever makes the next one removes those that are not.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

_ROOT = "autotune-exports"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make an empty folder for as long as the context lasts."""
    root = Path(gettempdir(), _ROOT)
    root.mkdir(mode=0o700, exist_ok=True)
    with _locked(root):
        for left in root.iterdir():
            # Somebody still works in it, or its owner has just removed it.
            with suppress(BlockingIOError, FileNotFoundError), _locked(left, wait=False):
                shutil.rmtree(left)
        folder = Path(mkdtemp(dir=root))
        lock = _lock(folder, wait=False)
    try:
        yield folder
    finally:
        # What cannot be removed now is removed before the next folder is made.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    lock = _lock(path, wait=wait)
    try:
        yield
    finally:
        os.close(lock)


def _lock(path: Path, *, wait: bool) -> int:
    """Lock a folder until the descriptor is closed, or its process ends.

    Raises:
        BlockingIOError: somebody else holds it, and waiting was not asked for.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
