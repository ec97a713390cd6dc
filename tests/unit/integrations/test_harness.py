import re
from pathlib import Path

import pytest

from integrations import __main__ as command
from integrations import environments
from integrations.__main__ import Outcome
from integrations.environments import (
    REPOSITORY_ROOT,
    Environment,
    InstallationError,
    find_environments,
)
from local.progress import SilentProgress

PEERS = REPOSITORY_ROOT / "benchmarks" / "peers"
ENVIRONMENTS = [
    *find_environments([]),
    *(Environment(lock.parent) for lock in sorted(PEERS.glob("*/requirements.txt"))),
]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: one.name)
class TestLocks:
    def test_every_package_has_hashes_and_no_address(self, environment):
        lock = (environment.source / "requirements.txt").read_text()
        packages = re.findall(r"^[a-z0-9][\w.-]*==\S+(?: ; .*)? \\$", lock, re.M)
        assert packages
        assert len(packages) == len(re.findall(r"^\S", lock, re.M))
        assert "://" not in lock

    def test_nothing_for_graphics_processors_is_locked(self, environment):
        lock = (environment.source / "requirements.txt").read_text()
        assert not re.search(r"^(torch|nvidia|cuda|triton)\b", lock, re.M)

    def test_what_is_pinned_is_locked_as_pinned(self, environment):
        wanted = (environment.source / "requirements.in").read_text()
        lock = (environment.source / "requirements.txt").read_text()
        for pin in re.findall(r"^(?!torch==)\S+==\S+", wanted, re.M):
            assert f"\n{pin} " in f"\n{lock}"


@pytest.fixture
def made(monkeypatch, tmp_path):
    """An environment of a folder of its own, and the commands that were run for it."""
    monkeypatch.setattr(environments, "VENVS", tmp_path / ".venvs")
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "requirements.in").write_text("torch==2.13.0  # why\n")
    (folder / "requirements.txt").write_text("a==1\n")
    commands = []

    def run(command):
        commands.append(" ".join(command))
        if "venv" in command:
            (Path(command[-1]) / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        if "--target" in command:
            Path(command[command.index("--target") + 1]).mkdir(parents=True)

    monkeypatch.setattr(environments, "_run", run)
    return Environment(folder), commands, folder


def test_an_environment_is_made_once_and_the_sdk_put_in_each_time(made):
    environment, commands, _ = made
    environment.install(Path("sdk.whl"), SilentProgress())
    assert [line.split()[1] for line in commands] == ["venv", "pip", "-m", "pip"]
    assert "--require-hashes" in commands[1]
    assert commands[2].endswith("torch==2.13.0")
    commands.clear()
    environment.install(Path("sdk.whl"), SilentProgress())
    assert len(commands) == 1
    assert commands[0].endswith("--reinstall-package autotune-sdk sdk.whl")


def test_another_lock_makes_the_environment_anew_and_leaves_torch(made):
    environment, commands, folder = made
    environment.install(Path("sdk.whl"), SilentProgress())
    left_over = environment.python.parent.parent / "left-over"
    left_over.touch()
    (folder / "requirements.txt").write_text("a==2\n")
    commands.clear()
    environment.install(Path("sdk.whl"), SilentProgress())
    assert [line.split()[1] for line in commands] == ["venv", "pip", "pip"]
    assert not left_over.exists()


def test_a_lock_tells_the_version_of_what_it_holds(made):
    environment, _, _ = made
    assert environment.version_of("a") == "1"
    with pytest.raises(ValueError, match="locks no b"):
        environment.version_of("b")


def test_names_of_environments_are_their_own():
    names = [environment.name for environment in ENVIRONMENTS]
    assert len(set(names)) == len(names)


def test_an_environment_that_was_broken_off_is_made_anew(made, monkeypatch):
    environment, commands, _ = made
    run = environments._run

    def fail(command):
        if "--require-hashes" in command:
            raise InstallationError("no network")
        run(command)

    monkeypatch.setattr(environments, "_run", fail)
    with pytest.raises(InstallationError):
        environment.install(Path("sdk.whl"), SilentProgress())
    monkeypatch.setattr(environments, "_run", run)
    commands.clear()
    environment.install(Path("sdk.whl"), SilentProgress())
    assert commands[0].split()[1] == "venv"


@pytest.mark.parametrize(
    ("outcomes", "status", "last"),
    [
        ([True, True], 0, "integrations: all 2 environments passed"),
        ([True, False], 1, "integrations: 1 of 2 failed: e1"),
        ([False, False], 1, "integrations: 2 of 2 failed: e0, e1"),
    ],
)
def test_the_last_line_and_the_exit_status_tell_of_every_failure(
    monkeypatch, capsys, outcomes, status, last
):
    told = [
        Outcome(name=f"e{index}", passed=passed, closing_line=f"closing {index}")
        for index, passed in enumerate(outcomes)
    ]
    monkeypatch.setattr(command, "run", lambda _: told)
    assert command.main([]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert [line.split(maxsplit=1) for line in lines[1:3]] == [
        ["e0", "closing 0"],
        ["e1", "closing 1"],
    ]


def test_a_stack_that_does_not_come_up_is_a_failure(monkeypatch, capsys):
    def fail(_):
        raise InstallationError("the SDK cannot be built")

    monkeypatch.setattr(command, "run", fail)
    assert command.main([]) == 1
    assert "the SDK cannot be built" in capsys.readouterr().err


def test_an_environment_that_is_not_there_is_named(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["tlr"])
    assert ended.value.code == 2
    assert "no environment tlr" in capsys.readouterr().err
