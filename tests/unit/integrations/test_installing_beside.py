"""The next environments are made while one is tested, and what fails of one is its own."""

import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from integrations import __main__ as command
from integrations.__main__ import Outcome, installed_beside
from integrations.environments import InstallationError
from local.progress import PrintedProgress

PATIENCE = 30


class Made:
    """An environment that is made when it may be.

    Args:
        name: Its name.
        error: What making it ends with.
    """

    def __init__(self, name, *, error=None):
        self.name = name
        self.error = error
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()
        self.is_made = False

    def install(self, sdk_wheel, progress):
        assert sdk_wheel.name == "sdk.whl"
        self.begun.set()
        assert self.may_end.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        self.is_made = True


@pytest.fixture(autouse=True)
def stack(monkeypatch):
    @contextmanager
    def served(_):
        yield {"AUTOTUNE_API_KEY": "key_1.abc"}

    monkeypatch.setattr(command, "build_sdk_wheel", lambda folder: folder / "sdk.whl")
    monkeypatch.setattr(command, "served_stack", served)


def when_tested(monkeypatch, test):
    def run(environment, variables):
        assert variables == {"AUTOTUNE_API_KEY": "key_1.abc"}
        test(environment)
        return Outcome(name=environment.name, passed=True, closing_line="1 passed")

    monkeypatch.setattr(command, "_test", run)


def test_the_next_is_made_while_one_is_tested(monkeypatch):
    first, second = Made("first"), Made("second")
    second.may_end.clear()

    def test(environment):
        if environment is first:
            assert second.begun.wait(PATIENCE)
            assert not second.is_made
            threading.Timer(0.1, second.may_end.set).start()
        assert environment.is_made

    when_tested(monkeypatch, test)
    outcomes = command.run([first, second])
    assert [(one.name, one.passed) for one in outcomes] == [("first", True), ("second", True)]


def test_no_two_are_made_at_a_time():
    first, second = Made("first"), Made("second")
    first.may_end.clear()
    with installed_beside([first, second], Path("sdk.whl")) as installations:
        assert first.begun.wait(PATIENCE)
        assert not second.begun.wait(0.2)
        first.may_end.set()
        installations[1].result(PATIENCE)
    assert second.is_made


def test_an_environment_that_is_not_made_fails_alone(monkeypatch):
    before, broken, after = (
        Made("before"),
        Made("broken", error=InstallationError("no network")),
        Made("after"),
    )
    tested = []

    def test(environment):
        tested.append(environment.name)
        if environment is before:
            assert after.begun.wait(PATIENCE)

    when_tested(monkeypatch, test)
    outcomes = command.run([before, broken, after])
    assert tested == ["before", "after"]
    assert [one.passed for one in outcomes] == [True, False, True]
    assert outcomes[1].closing_line == "not installed: no network"


def test_who_waits_for_an_environment_sees_which(monkeypatch, capsys):
    slow = Made("slow", error=InstallationError("no network"))
    slow.may_end.clear()

    class Seen(PrintedProgress):
        def step(self, title):
            slow.may_end.set()
            return super().step(title)

    monkeypatch.setattr(command, "PrintedProgress", Seen)
    [outcome] = command.run([slow])
    assert not outcome.passed
    assert capsys.readouterr().out == "  Installing what slow needs ... failed\n"


def test_an_error_that_nobody_knows_is_raised(monkeypatch):
    when_tested(monkeypatch, lambda _: None)
    with pytest.raises(OSError, match="disk"):
        command.run([Made("first"), Made("second", error=OSError("the disk is full"))])


def test_nothing_more_is_made_once_the_stack_is_gone():
    first, second = Made("first"), Made("second")
    first.may_end.clear()
    with installed_beside([first, second], Path("sdk.whl")) as installations:
        assert first.begun.wait(PATIENCE)
        installations[1].add_done_callback(lambda _: first.may_end.set())
    assert first.is_made, "it was waited for"
    assert installations[1].cancelled()
    assert not second.begun.is_set()
