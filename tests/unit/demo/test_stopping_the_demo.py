"""The demo's parts run beside each other: where one fails, or Ctrl-C comes, all of them end."""

import signal
import subprocess
import sys
import time

import psutil
import pytest

from local import demo
from local.demo_commands import CommandLine, DemoError
from tests.support.interruptible import start_interruptible
from tests.unit.demo.interrupted_demo import PROFILE, sleep_in

PATIENCE = 60


def pid_in(file):
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < deadline, f"nothing wrote {file}"
        time.sleep(0.05)
    return int(file.read_text())


@pytest.fixture
def deck_pid(monkeypatch, tmp_path):
    """The file with the process id of a deck that sleeps, in a demo that does nothing else."""
    file = tmp_path / "deck.pid"
    monkeypatch.setattr(demo, "DIRECTORY", tmp_path)
    monkeypatch.setattr(demo, "judge_a_deck", lambda autotune, **_: sleep_in(autotune, file))
    monkeypatch.setattr(demo, "ask_a_model", lambda _: None)
    return file


def test_a_failure_of_another_part_ends_the_decks_command(deck_pid, monkeypatch, capsys):
    def fail(_):
        pid_in(deck_pid)
        raise DemoError("two completions were not scored")

    monkeypatch.setattr(demo, "score_completions", fail)
    with pytest.raises(DemoError, match="two completions"):
        demo.score_examples(CommandLine(PROFILE))
    assert not psutil.pid_exists(pid_in(deck_pid))
    assert "stopped, because the rest of the demo was" in capsys.readouterr().out


def test_a_deck_that_is_stopped_begins_no_other_command(tmp_path):
    with (tmp_path / "kept").open("w") as kept:
        deck = CommandLine(PROFILE, kept_in=kept)
        deck.stop()
        with pytest.raises(DemoError, match="stopped"):
            sleep_in(deck, tmp_path / "deck.pid")
    assert not (tmp_path / "deck.pid").exists()


def test_a_failure_of_the_deck_is_the_demos(deck_pid, monkeypatch):
    def fail(autotune, **_):
        autotune.run([sys.executable, "-c", "raise SystemExit(3)"])

    monkeypatch.setattr(demo, "judge_a_deck", fail)
    monkeypatch.setattr(demo, "score_completions", lambda _: None)
    with pytest.raises(DemoError, match="ended with 3"):
        demo.score_examples(CommandLine(PROFILE))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_demo_alone_ends_every_command(tmp_path, number):
    # Ctrl-C in a terminal goes to the commands, too; what stops a service does not.
    process = start_interruptible(
        [sys.executable, "-m", "tests.unit.demo.interrupted_demo", str(tmp_path)],
        cwd=demo.REPOSITORY_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        pids = [pid_in(tmp_path / "deck.pid"), pid_in(tmp_path / "main.pid")]
        process.send_signal(number)
        shown, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == demo.EXIT_INTERRUPTED
    assert not any(map(psutil.pid_exists, pids))
    assert "stopped, because the rest of the demo was" in shown
    assert shown.splitlines()[-1] == "the stack is down"
    assert said == "interrupted; everything that was started is stopped\n"
