"""Temporary folders for the files of exports.

A killed process leaves its folder behind for the function's next process: texts of another
organisation, and less free disk. So a process locks its folder while it lives, and whoever creates
the next folder removes those that are not locked.
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
    """Create an empty folder, and remove it after the context."""
    root = Path(gettempdir(), _ROOT)
    root.mkdir(mode=0o700, exist_ok=True)
    with _locked(root):
        for left in root.iterdir():
            # Another process still works in it, or has just removed it.
            with suppress(BlockingIOError, FileNotFoundError), _locked(left, wait=False):
                shutil.rmtree(left)
        folder = Path(mkdtemp(dir=root))
        lock = _lock(folder, wait=False)
    try:
        yield folder
    finally:
        # If this fails, the folder is removed before the next one is created.
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
        BlockingIOError: another process holds the lock, and ``wait`` is False.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
