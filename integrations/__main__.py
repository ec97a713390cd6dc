"""``python -m integrations [environment …]``: each framework's tests against one running stack.

Exit status 0 says that every environment was made and that all of its tests passed.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from integrations.environments import (
    INTEGRATIONS,
    REPOSITORY_ROOT,
    Environment,
    InstallationError,
    build_sdk_wheel,
    find_environments,
)
from integrations.served_stack import served_stack
from local.deployment import DeploymentError
from local.first_organization import OperatorCommandError
from local.ministack import MiniStackError
from local.progress import PrintedProgress, Progress, SilentProgress
from local.server_process import ServerProcessError

TEST_SECONDS = 900
# Jobs that train beside others, and thousands of samples that are judged, some ten a second there.
LONGER_SECONDS = {"lora": 2_700, "summary_judges": 3_600}
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one environment.

    Attributes:
        closing_line: The last line of its tests, or why they did not run.
    """

    name: str
    passed: bool
    closing_line: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tests of the environments named, or of all; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m integrations", description=__doc__)
    parser.add_argument("environments", nargs="*", metavar="environment")
    names = parser.parse_args(arguments).environments
    try:
        environments = find_environments(names)
    except ValueError as error:
        parser.error(str(error))
    try:
        outcomes = run(environments)
    except (
        DeploymentError,
        InstallationError,
        MiniStackError,
        OperatorCommandError,
        ServerProcessError,
    ) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    print()
    for outcome in outcomes:
        print(f"{outcome.name:<14} {outcome.closing_line}")
    failed = [outcome.name for outcome in outcomes if not outcome.passed]
    if failed:
        print(f"integrations: {len(failed)} of {len(outcomes)} failed: {', '.join(failed)}")
        return EXIT_FAILED
    print(f"integrations: all {len(outcomes)} environments passed")
    return 0


def run(environments: Sequence[Environment]) -> list[Outcome]:
    """Makes the environments and runs their tests, one after the other, on one stack.

    While the stack comes up, and while one is tested, the next ones are made. An environment that
    cannot be made is an outcome like failed tests: the others still run.

    Raises:
        InstallationError: If the SDK cannot be built.
        MiniStackError, DeploymentError, OperatorCommandError: If the stack does not come up.
        ServerProcessError: If the grader does not start.
    """
    progress = PrintedProgress()
    with tempfile.TemporaryDirectory(prefix="autotune-sdk-") as folder:
        wheel = build_sdk_wheel(Path(folder))
        with (
            installed_beside(environments, wheel) as installations,
            served_stack(progress) as variables,
        ):
            return [
                _outcome(environment, installation, variables, progress)
                for environment, installation in zip(environments, installations, strict=True)
            ]


@contextmanager
def installed_beside(
    environments: Sequence[Environment], wheel: Path
) -> Iterator[list[Future[None]]]:
    """Makes environments one after the other, beside what the block does.

    At the block's end no other begins, and the one that is being made is waited for.

    Args:
        environments: They may share torch, so that no two of them are made at a time.
        wheel: The SDK.

    Yields:
        What becomes of each, in their order; its error is an :class:`InstallationError`.
    """
    thread = ThreadPoolExecutor(1)
    try:
        # Silent: its lines would come amid those of the tests.
        yield [thread.submit(one.install, wheel, SilentProgress()) for one in environments]
    finally:
        thread.shutdown(cancel_futures=True)


def _outcome(
    environment: Environment,
    installation: Future[None],
    variables: Mapping[str, str],
    progress: Progress,
) -> Outcome:
    """Waits until an environment is made and tests it."""
    try:
        if not installation.done():
            with progress.step(f"Installing what {environment.name} needs"):
                installation.result()
        installation.result()
    except InstallationError as error:
        return Outcome(name=environment.name, passed=False, closing_line=f"not installed: {error}")
    return _test(environment, variables)


def _test(environment: Environment, variables: Mapping[str, str]) -> Outcome:
    """Runs pytest, showing its output as it comes."""
    print(f"\n{environment.name}:", flush=True)
    process = subprocess.Popen(
        [
            *(str(environment.python), "-m", "pytest", str(environment.source)),
            *("-c", str(INTEGRATIONS / "pytest.ini"), f"--rootdir={REPOSITORY_ROOT}"),
        ],
        cwd=REPOSITORY_ROOT,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    closing_line = "pytest printed nothing"
    seconds = LONGER_SECONDS.get(environment.name, TEST_SECONDS)
    stopper = threading.Timer(seconds, process.kill)
    stopper.start()
    try:
        if process.stdout is None:
            raise AssertionError("pytest was started without a pipe for its output")
        for line in process.stdout:
            print(line, end="", flush=True)
            closing_line = line.strip().strip("= ") or closing_line
        status = process.wait()
    finally:
        stopper.cancel()
        process.kill()
        process.wait()
    if status < 0:
        closing_line = f"ended by signal {-status}; {seconds} s are the limit"
    return Outcome(name=environment.name, passed=status == 0, closing_line=closing_line)


if __name__ == "__main__":
    sys.exit(main())
