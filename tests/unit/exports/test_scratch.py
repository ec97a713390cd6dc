"""What a killed process left of an export is gone before the next one writes anything."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autotune_platform.exports.scratch import scratch_folder

_KILLED = """
import os, signal
from autotune_platform.exports.scratch import scratch_folder
with scratch_folder() as folder:
    folder.joinpath("part-00001.jsonl.gz").write_text("a prompt of somebody else")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_what_a_killed_process_left_is_removed() -> None:
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED], capture_output=True, text=True, check=False
    )
    left = Path(killed.stdout.strip())
    assert list(left.iterdir())
    with scratch_folder() as folder:
        assert list(folder.parent.iterdir()) == [folder]


def test_who_still_works_keeps_its_folder() -> None:
    with scratch_folder() as first:
        with scratch_folder() as second:
            assert first.is_dir()
            assert second.is_dir()
        assert first.is_dir()
        assert not second.exists()
    assert not first.exists()


def test_many_come_and_go_at_once() -> None:
    """Who makes a folder finds others that their owners are just removing."""

    def work(number: int) -> str:
        with scratch_folder() as folder:
            folder.joinpath("part").write_text(str(number))
            return folder.joinpath("part").read_text()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(400))) == [str(number) for number in range(400)]
