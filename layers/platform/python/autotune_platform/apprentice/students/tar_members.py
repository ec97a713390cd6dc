"""The files of a tar archive as a stream, read so that no other reader finds more in it.

Readers differ in what they make of an archive that is odd: one stops at a header that does not
check, the next goes on behind it. So whatever is odd is refused, and behind the end are zeros.
"""

import tarfile
from collections.abc import Iterator
from typing import IO, Final

from autotune_platform.apprentice.students.errors import BadArtifactError

BLOCK: Final = 512
MOST_PAX_BYTES: Final = 4_096
# Python's archiver, and others, write times of files in headers of their own.
_HARMLESS = frozenset({"mtime", "atime", "ctime", "uid", "gid", "uname", "gname"})
_FILES = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE})
_ZEROS = bytes(BLOCK)
_READ_BYTES = 1_048_576


class Member:
    """A file: its name, how many bytes it has, and these as a stream.

    Attributes:
        is_folder: whether it is the folder that the files are in, which has no bytes.
    """

    def __init__(self, content: IO[bytes], header: tarfile.TarInfo) -> None:
        self._content = content
        self._left = header.size
        self.name = header.name.removeprefix("./")
        self.size = header.size
        self.is_folder = header.type == tarfile.DIRTYPE

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at its end."""
        some = _exactly(self._content, min(size, self._left))
        self._left -= len(some)
        return some

    def pass_over(self) -> None:
        """Read to where the next header is."""
        while self.read(_READ_BYTES):
            pass
        _exactly(self._content, -self.size % BLOCK)


def members(content: IO[bytes], *, most_bytes: int) -> Iterator[Member]:
    """Yield the files of an archive, each to be read before the next, and read to the end.

    Args:
        content: the archive, without its compression.
        most_bytes: of all files together.

    Raises:
        BadArtifactError: it has something else than plain files, or something behind its end.
        EOFError: it is cut short.
        tarfile.HeaderError: a header does not check.
    """
    left = most_bytes
    follows_times = False
    while (block := _exactly(content, BLOCK)) != _ZEROS:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if header.size < 0 or header.size > left:
            raise BadArtifactError(f"files of more than {most_bytes} bytes")
        if header.type == tarfile.XHDTYPE and not follows_times:
            _require_harmless(content, header.size)
            follows_times = True
            continue
        is_folder = header.type == tarfile.DIRTYPE and header.name in {".", "./", ""}
        if header.type not in _FILES and not (is_folder and header.size == 0):
            raise BadArtifactError("files alone: no links, no folders, nothing else")
        follows_times = False
        left -= header.size
        member = Member(content, header)
        yield member
        member.pass_over()
    if follows_times:
        raise BadArtifactError("a header of no file")
    while some := content.read(_READ_BYTES):
        if some.strip(b"\0"):
            raise BadArtifactError("something behind the archive's end")


def _require_harmless(content: IO[bytes], size: int) -> None:
    """Read a header of PAX, and require that it says nothing of what a file is or where it ends."""
    if size > MOST_PAX_BYTES:
        raise BadArtifactError(f"a header of more than {MOST_PAX_BYTES} bytes")
    said = _exactly(content, size)
    _exactly(content, -size % BLOCK)
    while said:
        length, space, _ = said.partition(b" ")
        if not space or not length.isdigit() or not len(length) + 3 <= int(length) <= len(said):
            raise BadArtifactError("a header that does not check")
        record, said = said[: int(length)], said[int(length) :]
        name, equals, _ = record[len(length) + 1 :].partition(b"=")
        if not equals or not record.endswith(b"\n") or name.decode() not in _HARMLESS:
            raise BadArtifactError("a header that says more than times and owners")


def _exactly(content: IO[bytes], size: int) -> bytes:
    found = b""
    while len(found) < size:
        some = content.read(size - len(found))
        if not some:
            raise EOFError
        found += some
    return found
