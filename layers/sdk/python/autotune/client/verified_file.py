"""A file that appears under its name only when its bytes are those that were promised."""

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from autotune.client.errors import ChecksumMismatchError, LocalFileError

_PARTIAL = ".partial"
_ABANDONED_AFTER_SECONDS = 3_600


class VerifiedFile:
    """Receives the bytes of one file beside its place, and moves them there once they are right.

    Several processes may receive the same file: each writes a partial file of its own.

    Args:
        sha256: what the bytes must hash to, as 64 hex digits.
        size: how many bytes there must be.
        count: gets how many bytes there are more, or fewer, than before.

    Raises:
        LocalFileError: every method, where the file system refuses.
    """

    def __init__(self, path: Path, sha256: str, *, size: int, count: Callable[[int], None]) -> None:
        self.path = path
        self.was_there = False
        self._sha256 = sha256.lower()
        self._size = size
        self._count = count
        self._partial: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._taken = 0

    def look(self) -> None:
        """Find out whether the file is there and whole, which ``was_there`` holds then."""
        with self._named_refusals():
            if not self.path.is_file() or self.path.stat().st_size != self._size:
                return
            with self.path.open("rb") as present:
                digest = hashlib.file_digest(present, "sha256").hexdigest()
        if digest == self._sha256:
            self.was_there = True
            self._count(self._size)

    def begin(self) -> None:
        """Start with an empty partial file, whatever came before."""
        self.drop()
        with self._named_refusals():
            self._remove_abandoned()
            # Not a `with`: it stays open from call to call until `finish` or `drop`.
            name = f".{self.path.name}.{secrets.token_hex(8)}{_PARTIAL}"
            self._partial = self.path.with_name(name).open("xb")

    def take(self, piece: bytes) -> None:
        """Add to the partial file.

        Raises:
            ChecksumMismatchError: more comes than was promised.
        """
        assert self._partial is not None
        if self._taken + len(piece) > self._size:
            raise ChecksumMismatchError(
                self.path.name, f"more than the {self._size} bytes that it has were sent"
            )
        with self._named_refusals():
            self._partial.write(piece)
        self._hash.update(piece)
        self._taken += len(piece)
        self._count(len(piece))

    def finish(self) -> None:
        """Give the file its name.

        Raises:
            ChecksumMismatchError: its bytes are not those that were promised; nothing of it stays.
        """
        assert self._partial is not None
        digest = self._hash.hexdigest()
        if digest != self._sha256:
            found = f"its {self._taken} bytes have the SHA-256 {digest}, not {self._sha256}"
            raise ChecksumMismatchError(self.path.name, found)
        with self._named_refusals():
            self._partial.flush()
            os.fsync(self._partial.fileno())
            self._partial.close()
            Path(self._partial.name).replace(self.path)
        self._partial = None

    def drop(self) -> None:
        """Remove the partial file, if there is one."""
        if self._partial is None:
            return
        # A full disk refuses to take what is still buffered, which is to go anyway.
        with contextlib.suppress(OSError):
            self._partial.close()
        with contextlib.suppress(OSError):
            Path(self._partial.name).unlink(missing_ok=True)
        self._count(-self._taken)
        self._partial = None
        self._hash = hashlib.sha256()
        self._taken = 0

    def _remove_abandoned(self) -> None:
        """Remove what processes that were killed left of the same file."""
        for partial in self.path.parent.glob(f".{self.path.name}.*{_PARTIAL}"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - partial.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                    partial.unlink()

    @contextmanager
    def _named_refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LocalFileError(self.path, error) from error
