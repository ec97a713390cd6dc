"""A student that a job trained, as a ``model.tar.gz`` that a stranger may have written.

It is read as a stream and never unpacked: plain files of few kinds in one folder, none of which
can hold code, and a ``student.json`` that says what each of them is, and of what it was trained.
"""

import gzip
import hashlib
import io
import math
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, Final, NamedTuple

from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.tar_members import Member, members
from autotune_platform.runtime.bounded_json import parse_strictly

MANIFEST: Final = "student.json"
FORMAT: Final = 1
MOST_FILES: Final = 64
MOST_PACKED_BYTES: Final = 400_000_000
MOST_BYTES: Final = 450_000_000
"""Of all files together; an adapter of rank 16 for 8 billion weights has some 170 MB."""
_MOST_JSON_BYTES = 1_000_000
_MOST_VALUES = 20_000
_MOST_NPZ_BYTES = 64_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.(?:safetensors|npz|json)")
_BITS: Final[Mapping[str, int]] = {
    "F64": 64,
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "I64": 64,
    "I32": 32,
    "I16": 16,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
}
_READ_BYTES = 1_048_576
_NPY = b"\x93NUMPY\x01\x00"
_MOST_HEADER_BYTES = 118
"""So that numbers begin at byte 128, as numpy has it for small shapes."""
_HEADER = re.compile(
    r"\{'descr': '[<>|][biuf]([1248])', 'fortran_order': (?:True|False), "
    r"'shape': \((|[0-9]+,|[0-9]+(?:, [0-9]+)+)\), \} *\n"
)
"""The whole of one as numpy writes it: of what is named twice Python takes the last."""


class TrainedOn(NamedTuple):
    """What a student has to say that it was trained on."""

    training_id: str
    base_model: str
    base_sha256: str
    data_sha256: str


class Archive(NamedTuple):
    """An archive that was looked at.

    Attributes:
        sha256: of its bytes, in hexadecimal digits.
        size_bytes: how many there are.
        files: digests by name.
    """

    sha256: str
    size_bytes: int
    files: Mapping[str, str]


def read_archive(content: IO[bytes], trained_on: TrainedOn) -> Archive:
    """Read an archive to its end, and require it to be a student's.

    Args:
        content: its bytes, as they come.
        trained_on: what it has to say of itself.

    Raises:
        BadArtifactError: it is none; the message says what is wrong.
    """
    packed = _Counted(content, MOST_PACKED_BYTES)
    files: dict[str, str] = {}
    manifest: Any = None
    try:
        unpacked = _Counted(gzip.GzipFile(fileobj=packed, mode="rb"), MOST_BYTES)  # type: ignore[arg-type]
        for member in members(unpacked, most_bytes=MOST_BYTES):  # type: ignore[arg-type]
            if member.is_folder:
                continue
            _require_plain(member, known=files)
            files[member.name], checked = _checked(member)
            if member.name == MANIFEST:
                manifest = checked
        # What is behind the archive's end is a part of its digest.
        while packed.read(_READ_BYTES):
            pass
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        AttributeError,
        EOFError,
        RuntimeError,
        gzip.BadGzipFile,
        UnicodeError,
        ValueError,
        TypeError,
        KeyError,
    ) as error:
        raise BadArtifactError(f"the archive is broken: {type(error).__name__}") from error
    _require_manifest(manifest, files, trained_on)
    return Archive(packed.sha256.hexdigest(), packed.size, files)


class _Counted(io.RawIOBase):
    """Bytes that are counted and digested as they are read, and not too many."""

    def __init__(self, content: IO[bytes], most: int) -> None:
        self._content = content
        self._most = most
        self.size = 0
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise ValueError("nothing is read as a whole")
        some = self._content.read(size)
        self.size += len(some)
        if self.size > self._most:
            raise BadArtifactError(f"more than {self._most} bytes")
        self.sha256.update(some)
        return some


def _require_plain(member: Member, *, known: Mapping[str, str]) -> None:
    name = member.name
    if _NAME.fullmatch(name) is None:
        raise BadArtifactError("files in one folder, of safetensors, npz and json alone")
    if name in known:
        raise BadArtifactError("a file is there twice")
    if len(known) >= MOST_FILES:
        raise BadArtifactError(f"more than {MOST_FILES} files")
    if name.endswith(".json") and member.size > _MOST_JSON_BYTES:
        raise BadArtifactError(f"a json file of more than {_MOST_JSON_BYTES} bytes")
    if name.endswith(".npz") and member.size > _MOST_NPZ_BYTES:
        raise BadArtifactError(f"an npz file of more than {_MOST_NPZ_BYTES} bytes")


def _checked(member: Member) -> tuple[str, Any]:
    """Return a file's digest, and what a json file says."""
    if member.name.endswith(".safetensors"):
        return _safetensors(member), None
    content = member.read(member.size)
    if member.name.endswith(".npz"):
        _require_numbers(content)
        return hashlib.sha256(content).hexdigest(), None
    return hashlib.sha256(content).hexdigest(), parse_strictly(content, most_values=_MOST_VALUES)


def _safetensors(opened: Member) -> str:
    """Return the digest of tensors, each of which is where its header says, and nothing else.

    https://github.com/huggingface/safetensors#format
    """
    digest = hashlib.sha256()
    first = opened.read(8)
    (length,) = struct.unpack("<Q", first)
    if length > _MOST_JSON_BYTES:
        raise BadArtifactError(f"a safetensors header of more than {_MOST_JSON_BYTES} bytes")
    header = opened.read(length)
    digest.update(first + header)
    tensors = parse_strictly(header, most_values=_MOST_VALUES)
    at = 0
    places = sorted(
        (one["data_offsets"], one["dtype"], one["shape"])
        for name, one in tensors.items()
        if name != "__metadata__"
    )
    for (begin, end), dtype, shape in places:
        numbers = 1
        for length_of in shape:
            if type(length_of) is not int or length_of < 0:
                raise BadArtifactError("a tensor of no shape")
            numbers *= length_of
        if begin != at or (end - begin) * 8 != numbers * _BITS[dtype]:
            raise BadArtifactError("tensors that are not where their header says")
        at = end
    if 8 + length + at != opened.size:
        raise BadArtifactError("a safetensors file with more or less than its tensors")
    while some := opened.read(_READ_BYTES):
        digest.update(some)
    return digest.hexdigest()


def _require_numbers(content: bytes) -> None:
    """Require arrays of numbers, stored as they are: numpy reads objects by a pickle."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(one.file_size for one in members) > len(content):
            raise BadArtifactError("members that claim more than there is")
        for one in members:
            if one.compress_type != zipfile.ZIP_STORED or not one.filename.endswith(".npy"):
                raise BadArtifactError("an npz file of other things than plain arrays")
            _require_array(archive.read(one))


def _require_array(member: bytes) -> None:
    """Require one array of numbers, with as many bytes as its header says and no others.

    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
    """
    begin = len(_NPY) + 2
    (length,) = struct.unpack("<H", member[len(_NPY) : begin])
    said = _HEADER.fullmatch(member[begin : begin + length].decode("latin-1"))
    if not member.startswith(_NPY) or length > _MOST_HEADER_BYTES or said is None:
        raise BadArtifactError("arrays of numbers alone")
    size, shape = said.groups()
    numbers = math.prod(int(one) for one in shape.split(",") if one)
    if begin + length + numbers * int(size) != len(member):
        raise BadArtifactError("an array that has not the size that its header says")


def _require_manifest(manifest: Any, files: Mapping[str, str], trained_on: TrainedOn) -> None:
    if not isinstance(manifest, dict):
        raise BadArtifactError(f"no {MANIFEST}")
    said = {name: manifest.get(name) for name in TrainedOn._fields}
    if manifest.get("format") != FORMAT or manifest.get("kind") != "lora":
        raise BadArtifactError(f"{MANIFEST}: of another format")
    for name, value in trained_on._asdict().items():
        if said[name] != value:
            raise BadArtifactError(f"{MANIFEST}: {name} is another one")
    others = {name: sha256 for name, sha256 in files.items() if name != MANIFEST}
    if manifest.get("files") != others or not others:
        raise BadArtifactError(f"{MANIFEST}: other files than there are")
