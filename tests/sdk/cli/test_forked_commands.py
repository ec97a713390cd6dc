"""A shell of tests runs the command line as a shell of its users does."""

import json
import subprocess
import sys
from pathlib import Path

INSTALLED = Path(sys.executable).with_name("autotune")


def test_a_forked_command_does_what_the_installed_one_does(api, shell, write_jsonl):
    task_id = api.new_task()
    write_jsonl([{"prompt": "1 + 1", "response": "2", "modelId": "m"}])
    asked = f"tasks show {task_id} --json", "tasks show tsk_none", "tasks 'a b'", "--version"
    for command in asked:
        usual = subprocess.run(
            ["bash", "-c", f"{INSTALLED} {command}"], capture_output=True, text=True, check=False
        )
        forked = shell.run(f"autotune {command}")
        assert (forked.returncode, forked.stdout) == (usual.returncode, usual.stdout), command
        assert _without_ids(forked.stderr) == _without_ids(usual.stderr), command


def _without_ids(text: str) -> str:
    return " ".join(word for word in text.split() if "req_" not in word)


def test_it_has_the_streams_folder_and_environment_of_the_shell(api, shell, tmp_path, write_jsonl):
    task_id = api.new_task()
    line = {"prompt": "1 + 1", "response": "2", "modelId": "m"}
    write_jsonl([line])
    (tmp_path / "below").mkdir()
    ran = shell.run(
        "cd below\n"
        'autotune submit ../completions.jsonl --task "$TASK" --json | tee first.jsonl | wc -l\n'
        'cat ../completions.jsonl | autotune submit - --task "$TASK" --json > second.jsonl\n'
        "AUTOTUNE_API_KEY= autotune tasks list --json || echo no key\n",
        TASK=task_id,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "1\nno key\n"
    for name in ("first", "second"):
        (told,) = (tmp_path / "below" / f"{name}.jsonl").read_text().splitlines()
        assert json.loads(told), told


def test_commands_of_a_pipe_run_at_once_and_each_ends_by_itself(shell):
    ran = shell.run(
        "autotune --help | true\nautotune none\necho $?\nautotune --version\n", options="-uo"
    )
    assert ran.stdout.splitlines()[0] == "2"
    assert ran.stdout.splitlines()[1].startswith("autotune ")
    assert "Traceback" not in ran.stderr
