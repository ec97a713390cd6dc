"""What workers of the local stack are given of a function's code."""

import os
import zipfile
from pathlib import Path

import pytest

from local.unpacked_code import KEPT, UnpackedCode


@pytest.fixture
def code(tmp_path):
    return UnpackedCode(tmp_path / "unpacked")


def archive_of(tmp_path, name, **files):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for file, text in files.items():
            archive.writestr(f"python/{file}.py", text)
    return str(tmp_path / name)


def extracted(code, archive, folder):
    folder.mkdir()
    with code.opened(archive) as opened:
        opened.extractall(str(folder))
    return folder


def test_workers_have_the_same_files_of_the_same_archive(code, tmp_path):
    first = extracted(code, archive_of(tmp_path, "1.zip", one="1"), tmp_path / "first")
    again = extracted(code, archive_of(tmp_path, "2.zip", one="1"), tmp_path / "again")
    other = extracted(code, archive_of(tmp_path, "3.zip", one="2"), tmp_path / "other")
    texts = [(folder / "python" / "one.py").read_text() for folder in (first, again, other)]
    assert texts == ["1", "1", "2"]
    assert (first / "python" / "one.py").samefile(again / "python" / "one.py")


def test_what_is_no_archive_is_refused_each_time(code, tmp_path):
    (tmp_path / "none.zip").write_bytes(b"")
    for name in ("first", "again"):
        with pytest.raises(zipfile.BadZipFile):
            extracted(code, str(tmp_path / "none.zip"), tmp_path / name)


def test_an_archive_whose_unpacking_was_broken_off_is_unpacked_anew(code, tmp_path):
    archive = archive_of(tmp_path, "1.zip", one="1", two="2")
    folder = extracted(code, archive, tmp_path / "first")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    unpacked.rename(unpacked.with_suffix(".unfinished"))
    (unpacked.with_suffix(".unfinished") / "python" / "two.py").unlink()
    again = extracted(code, archive, tmp_path / "again")
    assert sorted(each.name for each in (again / "python").iterdir()) == ["one.py", "two.py"]
    assert (folder / "python" / "two.py").read_text() == "2"


def test_what_is_unpacked_stays_for_the_next_start(code, tmp_path):
    archive = archive_of(tmp_path, "1.zip", one="1")
    first = extracted(code, archive, tmp_path / "first")
    again = extracted(UnpackedCode(tmp_path / "unpacked"), archive, tmp_path / "again")
    assert (first / "python" / "one.py").samefile(again / "python" / "one.py")


def test_a_start_removes_what_was_broken_off_and_what_nobody_wanted_for_long(code, tmp_path):
    archives = [archive_of(tmp_path, f"{n}.zip", one=str(n)) for n in range(KEPT + 2)]
    folders = [code.of(Path(archive)) for archive in archives]
    for age, folder in enumerate(reversed(folders)):
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    broken_off = (tmp_path / "unpacked" / "digest").with_suffix(".unfinished")
    broken_off.mkdir()
    assert code.of(Path(archives[0])) == folders[0]  # wanted again, so it is the newest
    UnpackedCode(tmp_path / "unpacked")
    assert {*(tmp_path / "unpacked").iterdir()} == {folders[0], *folders[3:]}
