"""Files of a state are replaced all together, wherever who does it is killed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from local.state_files import MARK, finish, replace_all

NAMES = ["dynamodb.json", "s3.json", "sqs.json"]

KILLED = """
import json, os, signal, sys
from pathlib import Path
from local import state_files

at, folder = int(sys.argv[1]), Path(sys.argv[2])
changes = 0

def counted(method):
    def change(*arguments, **keywords):
        global changes
        if changes == at:
            os.kill(os.getpid(), signal.SIGKILL)
        changes += 1
        return method(*arguments, **keywords)
    return change

for name in ("write_text", "touch", "replace", "unlink"):
    setattr(Path, name, counted(getattr(Path, name)))
state_files.replace_all(folder, json.loads(sys.argv[3]))
"""


def read(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_who_is_killed_at_any_change_leaves_all_old_or_all_new_files(tmp_path):
    old, new = dict.fromkeys(NAMES, "old"), dict.fromkeys(NAMES, "new")
    left = []
    for at in range(20):
        folder = tmp_path / str(at)
        replace_all(folder, old)
        command = [sys.executable, "-c", KILLED, str(at), str(folder), json.dumps(new)]
        ended = subprocess.run(command, check=False, cwd=Path(__file__).parents[2])
        finish(folder)
        left.append(read(folder))
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
    assert ended.returncode == 0
    first_new = left.index(new)
    assert left == [old] * first_new + [new] * (len(left) - first_new)
    # Before the mark: the look for what another left, three files, and the mark itself.
    assert first_new == 1 + len(NAMES) + 1
    assert len(left) == first_new + len(NAMES) + 2


def test_a_full_disk_leaves_all_and_is_logged(tmp_path, caplog, monkeypatch):
    replace_all(tmp_path, dict.fromkeys(NAMES, "old"))
    write_text = Path.write_text

    def full(path, text):
        if path.name.startswith("sqs"):
            raise OSError(28, "No space left on device")
        return write_text(path, text)

    monkeypatch.setattr(Path, "write_text", full)
    replace_all(tmp_path, dict.fromkeys(NAMES, "new"))
    assert read(tmp_path) == dict.fromkeys(NAMES, "old")
    assert "No space left" in caplog.text


def test_a_folder_that_is_not_there_has_nothing_to_finish(tmp_path):
    finish(tmp_path / "none")
    assert not (tmp_path / "none" / MARK).exists()
