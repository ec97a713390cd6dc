"""A grader of the examples, served on loopback for as long as a block runs."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import httpx

from local.endpoint import LOOPBACK

START_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.05


class GraderProcessError(RuntimeError):
    """The grader did not start."""


class GraderProcess:
    """``autotune grader serve`` as a child process.

    Args:
        command: The ``autotune`` executable.
        source: File that defines the grader.
        port: A free port on loopback.
        environment: Environment of the process; it holds the shared secret.
        log_file: Where its output goes.
    """

    def __init__(
        self,
        *,
        command: Path,
        source: Path,
        port: int,
        environment: Mapping[str, str],
        log_file: Path,
    ) -> None:
        self._arguments = [str(command), "grader", "serve", str(source), "--port", str(port)]
        self._url = f"http://{LOOPBACK}:{port}"
        self._environment = environment
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        """Starts it and waits until it answers.

        Raises:
            GraderProcessError: If it ends or does not answer within a minute.
        """
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                self._arguments,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in the terminal is for the demo, which then stops its grader in order.
                start_new_session=True,
            )
        try:
            self._await_answer(self._process)
        except BaseException:
            self._stop(self._process)
            raise

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._stop(self._process)

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                said = self._log_file.read_text(errors="replace")[-2000:]
                message = f"the grader ended with {process.returncode}: {said}"
                raise GraderProcessError(message)
            try:
                answer = httpx.get(f"{self._url}/health", timeout=2.0, trust_env=False)
            except httpx.TransportError:
                time.sleep(POLL_SECONDS)
                continue
            if answer.is_success:
                return
            time.sleep(POLL_SECONDS)
        message = f"the grader did not answer within {START_SECONDS:.0f} s; see {self._log_file}"
        raise GraderProcessError(message)

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
