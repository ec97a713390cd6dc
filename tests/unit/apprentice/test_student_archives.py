"""An artifact that a job left is what it says, and holds nothing that could be code."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from autotune_platform.apprentice.students import archives, tar_members
from autotune_platform.apprentice.students.archives import TrainedOn, read_archive
from autotune_platform.apprentice.students.errors import BadArtifactError

TRAINED_ON = TrainedOn("trn_1", "tiny/base", "b" * 64, "d" * 64)


def npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def npz_of(header, body=b""):
    """Return one with a single member of numpy's first version, whatever its header says."""
    said = header.ljust(117).encode() + b"\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said))
        made.writestr("weights.npy", start + said + body)
    return content.getvalue()


OBJECTS = npz_of(
    "{'descr': '<f4', 'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    pickle.dumps(np.array([{"a": 1}], dtype=object)),
)
"""Of what is named twice Python takes the last: an array of objects, which is a pickle."""
ONE, TWO = bytes(4), bytes(8)


def safetensors(tensors=None, body=b"\0" * 24):
    if tensors is None:
        tensors = {
            "b": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "a": {"dtype": "BF16", "shape": [4], "data_offsets": [16, 24]},
            "__metadata__": {"format": "pt"},
        }
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header)) + header + body


PLAIN = {
    "adapter_model.safetensors": safetensors(),
    "adapter_config.json": b'{"r":16}',
    "scales.npz": npz(scales=np.ones(3, "<f4")),
}


def manifest(of, **changes):
    about = {
        "format": 1,
        "kind": "lora",
        **TRAINED_ON._asdict(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in of.items()},
    }
    return json.dumps({**about, **changes}).encode()


def archive(files=None, *, more=(), said=None, folder="", compresslevel=9):
    files = PLAIN if files is None else files
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=compresslevel) as opened:
        for name, text in {**files, "student.json": said or manifest(files)}.items():
            entry = tarfile.TarInfo(folder + name)
            entry.size = len(text)
            opened.addfile(entry, io.BytesIO(text))
        for entry in more:
            opened.addfile(entry, io.BytesIO(b"\0" * entry.size))
    return content.getvalue()


def member(name, kind=tarfile.REGTYPE, **fields):
    entry = tarfile.TarInfo(name)
    entry.type = kind
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry


def read(content):
    return read_archive(io.BytesIO(content), TRAINED_ON)


@pytest.mark.parametrize("folder", ["", "./"])
def test_plain_files_that_are_what_they_say_are_taken(folder):
    content = archive(folder=folder, more=[member(".", tarfile.DIRTYPE)])
    found = read(content)
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    assert found.size_bytes == len(content)
    assert sorted(found.files) == sorted([*PLAIN, "student.json"])


@pytest.mark.parametrize(
    "entry",
    [
        member("weights.npz", tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("weights.npz", tarfile.LNKTYPE, linkname="scales.npz"),
        member("sub", tarfile.DIRTYPE),
        member("weights.npz", tarfile.CHRTYPE),
        member("weights.npz", tarfile.FIFOTYPE),
        member("../weights.json"),
        member("/weights.json"),
        member("code/inference.py"),
        member("sub/weights.json"),
        member("inference.py"),
        member("pytorch_model.bin"),
        member("weights.pkl"),
        member(".json"),
        member("scales.npz"),
    ],
    ids=lambda entry: f"{entry.name} {entry.type!r}",
)
def test_anything_else_is_refused(entry):
    with pytest.raises(BadArtifactError):
        read(archive(more=[entry]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("weights.npz", npz(weights=np.array([{"a": 1}], dtype=object))),
        ("weights.npz", OBJECTS),
        ("weights.npz", npz_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", ONE)),
        ("weights.npz", npz_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", TWO)),
        ("weights.npz", npz_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ONE)),
        ("weights.npz", npz_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1), }", ONE)),
        ("weights.npz", npz_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }")),
        ("weights.npz", pickle.dumps([1])),
        ("weights.npz", b"PK\x03\x04"),
        ("weights.safetensors", pickle.dumps({"weights": 1})),
        ("weights.safetensors", safetensors(body=b"\0" * 25)),
        ("weights.safetensors", safetensors(body=b"\0" * 23)),
        (
            "weights.safetensors",
            safetensors({"a": {"dtype": "F32", "shape": [7], "data_offsets": [0, 24]}}),
        ),
        (
            "weights.safetensors",
            safetensors({"a": {"dtype": "OBJ", "shape": [3], "data_offsets": [0, 24]}}),
        ),
        ("weights.safetensors", safetensors([1])),
        ("weights.safetensors", struct.pack("<Q", 1 << 60)),
        ("weights.json", b"{"),
        ("weights.json", b"[" * 100_000),
        ("weights.json", b'"' + b"a" * 1_000_001 + b'"'),
    ],
)
def test_what_is_no_plain_numbers_is_refused(name, content):
    with pytest.raises(BadArtifactError):
        read(archive({**PLAIN, name: content}))


def test_a_header_that_names_its_type_twice_is_what_numpy_reads_by_a_pickle():
    with np.load(io.BytesIO(OBJECTS), allow_pickle=True) as loaded:
        assert loaded["weights"].tolist() == [{"a": 1}]


@pytest.mark.parametrize(
    "array",
    [
        np.array(3, "<i8"),
        np.ones(0, "?"),
        np.ones((3, 4), "<f2"),
        np.asfortranarray(np.ones((2, 3, 4), ">u4")),
    ],
    ids=str,
)
def test_an_array_of_numbers_is_taken_as_numpy_writes_it(array):
    files = {**PLAIN, "weights.npz": npz(weights=array)}
    assert set(read(archive(files)).files) == {*files, "student.json"}


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"kind": "linear"},
        {"training_id": "trn_2"},
        {"base_model": "another"},
        {"base_sha256": "0" * 64},
        {"data_sha256": "0" * 64},
        {"files": {}},
        {"files": None},
    ],
)
def test_a_student_of_something_else_is_refused(changes):
    with pytest.raises(BadArtifactError):
        read(archive(said=manifest(PLAIN, **changes)))


def test_a_file_that_was_changed_is_refused():
    changed = {**PLAIN, "adapter_config.json": b'{"r":17}'}
    with pytest.raises(BadArtifactError, match="other files"):
        read(archive(changed, said=manifest(PLAIN)))


def test_what_has_no_manifest_or_no_files_is_refused():
    with pytest.raises(BadArtifactError, match=r"no student\.json"):
        read(archive(said=b"[]"))
    with pytest.raises(BadArtifactError, match="other files"):
        read(archive({}))


def test_what_is_too_much_is_refused(monkeypatch):
    many = {f"f{place}.json": b"{}" for place in range(archives.MOST_FILES)}
    with pytest.raises(BadArtifactError, match="files"):
        read(archive(many))
    monkeypatch.setattr(archives, "MOST_BYTES", 10_000_000)
    bomb = gzip.compress(b"\0" * 20_000_000)
    with pytest.raises(BadArtifactError):
        read(bomb)
    huge = io.BytesIO()
    with tarfile.open(fileobj=huge, mode="w:gz") as opened:
        entry = member("weights.safetensors", size=20_000_000)
        opened.addfile(entry, io.BytesIO(safetensors() + b"\0" * 20_000_000))
    with pytest.raises(BadArtifactError):
        read(huge.getvalue())
    monkeypatch.setattr(archives, "MOST_PACKED_BYTES", 100)
    with pytest.raises(BadArtifactError, match="more than 100 bytes"):
        read(archive())


def header(name, content=b"", kind=tarfile.REGTYPE, **fields):
    """Return a member as an archiver of old writes it."""
    entry = member(name, kind, size=len(content), **fields)
    return entry.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


def crafted(*parts):
    """Return an archive that is right up to its end, and has some parts of its own there."""
    files = {**PLAIN, "student.json": manifest(PLAIN)}
    return b"".join([*(header(name, content) for name, content in files.items()), *parts])


END = bytes(1_024)


def pax(text):
    record = text.encode() if isinstance(text, str) else text
    return header("pax", record, tarfile.XHDTYPE)


@pytest.mark.parametrize("end", [END, bytes(512), bytes(10_240)])
def test_zeros_are_the_end(end):
    assert read(gzip.compress(crafted(end))).files.keys() == {*PLAIN, "student.json"}


HIDDEN = header("code.py", b"import os")


@pytest.mark.parametrize(
    "parts",
    [
        (b"x" * 512, HIDDEN, END),  # GNU tar skips what does not check, and finds what is behind it
        (END, HIDDEN, END),
        (bytes(512), HIDDEN, END),
        (END, b"x"),
        (HIDDEN, END),
        (),
        (b"x" * 100,),
        (header("m.json", b"{}", b"V"), END),
        (header("././@LongLink", b"code/inference.py\0", tarfile.GNUTYPE_LONGNAME), END),
        (header("././@LongLink", b"/etc/passwd\0", tarfile.GNUTYPE_LONGLINK), END),
        (header("pax", b"19 path=inference.py\n"[:21], tarfile.XGLTYPE), END),
        (pax("12 path=a.py\n"), END),
        (pax("13 path=a.py\n"), header("m.json", b"{}"), END),
        (pax("9 size=9\n"), header("m.json", b"{}"), END),
        (pax("25 GNU.sparse.name=m.npz\n"), header("m.json", b"{}"), END),
        (pax("9 mtime=\n"), END),
        (pax("99 mtime=1\n"), header("m.json", b"{}"), END),
        (pax("0 mtime=1\n"), header("m.json", b"{}"), END),
        (pax("mtime=1\n"), header("m.json", b"{}"), END),
        (pax("11 mtime=1\n"), pax("11 mtime=1\n"), header("m.json", b"{}"), END),
    ],
    ids=range(20),
)
def test_what_another_reader_may_find_is_refused(parts):
    with pytest.raises(BadArtifactError):
        read(gzip.compress(crafted(*parts)))


def test_times_that_pythons_archiver_writes_are_taken():
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as opened:
        for name, text in {**PLAIN, "student.json": manifest(PLAIN)}.items():
            entry = member(name, size=len(text), mtime=1_700_000_000.25)
            opened.addfile(entry, io.BytesIO(text))
    assert b"mtime=1700000000.25" in gzip.decompress(content.getvalue())
    assert len(read(content.getvalue()).files) == len(PLAIN) + 1


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_enormous_header_is_refused_before_it_is_read(kind):
    entry = member("pax", kind, size=400_000_000)
    first = entry.tobuf(tarfile.USTAR_FORMAT)

    class Zeros(io.RawIOBase):
        taken = 0

        def read(self, size=-1):
            self.taken += size
            some = first[self.taken - size : self.taken]
            return some + bytes(size - len(some))

    zeros = Zeros()
    with pytest.raises(BadArtifactError):
        next(tar_members.members(zeros, most_bytes=450_000_000))
    assert zeros.taken == 512


@pytest.mark.parametrize("size", [450_000_001, 1 << 60, -1])
def test_sizes_are_bounded_before_anything_is_read(size):
    block = bytearray(header("m.safetensors"))
    block[124:136] = (size & ((1 << 96) - 1)).to_bytes(12, "big")
    block[124] = 0xFF if size < 0 else 0x80
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    with pytest.raises(BadArtifactError, match="files of more than"):
        read(gzip.compress(bytes(block)))


@pytest.mark.parametrize("cut", [0, 1, 20, 200, 400])
def test_what_was_cut_short_is_refused(cut):
    content = archive()
    with pytest.raises(BadArtifactError):
        read(content[:cut])


def test_any_byte_that_is_changed_is_noticed():
    content = archive(compresslevel=0)
    known = read(content)
    for place in range(0, len(content), 97):
        changed = content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
        try:
            found = read(changed)
        except BadArtifactError:
            continue
        # The header of gzip and the ends of tar say nothing of the files.
        assert found.files == known.files
        assert found.sha256 != known.sha256
