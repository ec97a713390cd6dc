"""``python -m local console`` shows a stack, and has one run for it that does not."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from local import console
from local.__main__ import main
from local.records import LocalProfile
from local.stack import StackStatus


class Stack:
    """A stack whose API is already served, and that notes what is done to it."""

    def __init__(self, api, *, is_running):
        self.directory = Path("a-folder")
        self.done = []
        self._profile = LocalProfile(
            base_url=api.base_url,
            api_key=api.api_key,
            organization_id="org_1",
            aws_endpoint_url="http://127.0.0.1:9",
        )
        self._is_running = is_running

    def profile(self):
        return self._profile

    def status(self):
        return StackStatus(is_running=self._is_running, port=1, pid=1)

    def up(self):
        self.done.append("up")
        return self._profile

    def __enter__(self):
        return self.up()

    def __exit__(self, *_):
        self.done.append("down")


def test_a_stack_that_runs_is_shown_and_left_alone(api, run, capfd):
    stack = Stack(api, is_running=True)
    console.show(stack, prints=True)
    assert capfd.readouterr().out.startswith("https://api.test/console#code=ses_")
    assert stack.done == ["up"]
    (session,) = run("sessions", "list", "--json").json_lines
    assert session["status"] == "pending"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_stack_that_is_started_for_it_runs_until_it_is_told_to_end(api, capfd, monkeypatch, end):
    stack = Stack(api, is_running=False)
    before = signal.getsignal(end)
    wait = console._wait_for_interrupt

    def end_it():
        while signal.getsignal(end) is before:
            time.sleep(0.01)
        os.kill(os.getpid(), end)

    def wait_and_be_told():
        assert stack.done == ["up"]
        threading.Thread(target=end_it).start()
        wait()

    monkeypatch.setattr(console, "_wait_for_interrupt", wait_and_be_told)
    console.show(stack, prints=True)
    assert stack.done == ["up", "down"]
    assert signal.getsignal(end) is before
    assert "until Ctrl-C" in capfd.readouterr().out


def test_where_nothing_was_ever_made_the_command_says_what_makes_it(tmp_path, capsys):
    assert main(["--directory", str(tmp_path), "console"]) == 1
    assert "`make demo`" in capsys.readouterr().err
