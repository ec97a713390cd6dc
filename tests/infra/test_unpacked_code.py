"""What workers of the local stack are given of a function's code."""

import zipfile

import pytest

from local.unpacked_code import LinkedArchive


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def archive_of(tmp_path, name, **files):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for file, text in files.items():
            archive.writestr(f"python/{file}.py", text)
    return str(tmp_path / name)


def extracted(archive, folder):
    folder.mkdir()
    with LinkedArchive(archive) as opened:
        opened.extractall(str(folder))
    return folder


def test_workers_have_the_same_files_of_the_same_archive(tmp_path):
    first = extracted(archive_of(tmp_path, "1.zip", one="1"), tmp_path / "first")
    again = extracted(archive_of(tmp_path, "2.zip", one="1"), tmp_path / "again")
    other = extracted(archive_of(tmp_path, "3.zip", one="2"), tmp_path / "other")
    texts = [(folder / "python" / "one.py").read_text() for folder in (first, again, other)]
    assert texts == ["1", "1", "2"]
    assert (first / "python" / "one.py").samefile(again / "python" / "one.py")


def test_what_is_no_archive_is_refused_each_time(tmp_path):
    (tmp_path / "none.zip").write_bytes(b"")
    for name in ("first", "again"):
        with pytest.raises(zipfile.BadZipFile):
            extracted(str(tmp_path / "none.zip"), tmp_path / name)


def test_an_archive_whose_unpacking_was_broken_off_is_unpacked_anew(tmp_path):
    archive = archive_of(tmp_path, "1.zip", one="1", two="2")
    folder = extracted(archive, tmp_path / "first")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    unpacked.rename(unpacked.with_suffix(".unfinished"))
    (unpacked.with_suffix(".unfinished") / "python" / "two.py").unlink()
    again = extracted(archive, tmp_path / "again")
    assert sorted(each.name for each in (again / "python").iterdir()) == ["one.py", "two.py"]
    assert (folder / "python" / "two.py").read_text() == "2"
