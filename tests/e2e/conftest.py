"""The whole stack on MiniStack, once for all end-to-end tests."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from autotune import AutotuneClient
from local.endpoint import free_port, isolated_environment
from local.grader_process import GraderProcess
from local.memory_limits import kills_in
from local.records import LocalProfile
from local.stack import LocalStack
from tests.infra.reviewed_permissions import compared_permissions
from tests.support.graders import LoopbackGrader
from tests.support.permissions import SUMMARY, SUMMARY_NAME
from tests.support.xray import Daemon, listening_daemon

AUTOTUNE = Path(sys.executable).with_name("autotune")

T = TypeVar("T")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "e2e" in item.path.parts:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def xray() -> Iterator[Daemon]:
    """What the stack's functions send to X-Ray: each of their invocations is traced."""
    with listening_daemon() as made:
        yield made


@pytest.fixture(scope="session")
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, xray: Daemon
) -> Iterator[LocalStack]:
    """A running stack whose back-offs take a fiftieth of their time.

    At its end, no function may have been denied anything. Where all tests ran, each permission must
    have been used, or stand in ``tests/infra/reviewed_permissions.py``.
    """
    made = LocalStack(
        directory=tmp_path_factory.mktemp("stack"),
        environment={"SFN_WAIT_SCALE": "0.02", "AWS_XRAY_DAEMON_ADDRESS": xray.address},
    )
    with made:
        yield made
    assert kills_in(made.directory) == [], "functions took more memory than they have"
    compared = compared_permissions(made.directory)
    request.config.stash[SUMMARY] = compared.summary()
    if hasattr(request.config, "workeroutput"):  # of a worker of xdist, whose terminal is another's
        request.config.workeroutput[SUMMARY_NAME] = compared.summary()
    found = compared.denied()
    # Part of the tests use part of the permissions.
    if is_whole(request.session):
        found += compared.unused() + compared.used_after_all()
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def is_whole(session: pytest.Session) -> bool:
    """Whether every end-to-end test runs, and none has failed that could have used more."""
    folder = Path(__file__).parent
    options = session.config.option
    return (
        {item.path for item in session.items}.issuperset(folder.glob("test_*.py"))
        and not any("::" in argument for argument in session.config.args)
        and not (options.keyword or options.markexpr or options.deselect or session.testsfailed)
    )


@pytest.fixture(scope="session")
def profile(stack: LocalStack) -> LocalProfile:
    found = stack.profile()
    assert found is not None
    return found


@pytest.fixture
def client(profile: LocalProfile) -> Iterator[AutotuneClient]:
    with AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as made:
        yield made


@dataclass
class CommandLine:
    """The ``autotune`` command with the stack's address and key."""

    environment: dict[str, str]

    def run(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        finished = subprocess.run(
            [str(AUTOTUNE), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert finished.returncode == expect, finished.stdout + finished.stderr
        return finished

    def read(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture
def command_line(profile: LocalProfile) -> CommandLine:
    return CommandLine(
        isolated_environment(
            {
                "AUTOTUNE_BASE_URL": profile.base_url,
                "AUTOTUNE_API_KEY": profile.api_key,
                "AWS_ENDPOINT_URL": profile.aws_endpoint_url,
            }
        )
    )


@pytest.fixture
def serve(command_line: CommandLine, tmp_path: Path) -> Callable[..., Any]:
    """Register, serve and verify a grader of the examples, all by command line."""

    @contextmanager
    def served(source: str, *options: str) -> Iterator[str]:
        port = free_port()
        registered = command_line.read(
            *["graders", "register", "--name", "example"],
            *["--endpoint", f"http://127.0.0.1:{port}", *options],
        )
        grader_id: str = registered["grader"]["id"]
        secret = registered["credentials"]["sharedSecret"]
        with GraderProcess(
            command=AUTOTUNE,
            source=Path(source),
            port=port,
            environment={**os.environ, "AUTOTUNE_GRADER_SECRET": secret},
            log_file=tmp_path / "grader.log",
        ):
            command_line.run("graders", "verify", grader_id)
            yield grader_id

    return served


def until(what: Callable[[], T | None], *, seconds: float, pause: float = 0.2) -> T:
    """Ask until there is an answer that says something; return it."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < deadline, f"{what.__qualname__} said {answer!r} for {seconds} s"
        time.sleep(pause)
    return answer


def verified(client: AutotuneClient, grader: LoopbackGrader, **capabilities: Any) -> str:
    """Register and verify a loopback grader; return its id."""
    registered = client.graders.register(
        name="loopback", endpoint=grader.url, capabilities=capabilities
    )
    assert registered.credentials is not None
    grader.secret = registered.credentials.shared_secret
    answer = client.graders.verify(registered.grader.id)
    assert answer.verified, answer
    return registered.grader.id
