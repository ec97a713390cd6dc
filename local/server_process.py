"""A server on loopback, running as a child process for as long as a block runs."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import httpx

START_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.05


class ServerProcessError(RuntimeError):
    """The server did not start; the message ends with what it printed."""


class ServerProcess:
    """A command that serves HTTP.

    Args:
        arguments: The command; it serves until it is terminated.
        answers_at: URL that answers with success once the server is ready.
        environment: Environment of the process.
        log_file: Where its output goes.
    """

    def __init__(
        self,
        *,
        arguments: Sequence[str],
        answers_at: str,
        environment: Mapping[str, str],
        log_file: Path,
    ) -> None:
        self._arguments = arguments
        self._answers_at = answers_at
        self._environment = environment
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        """Starts it and waits until it answers.

        Raises:
            ServerProcessError: If it ends or does not answer within a minute.
        """
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                self._arguments,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in the terminal is for its parent, which then stops the server in order.
                start_new_session=True,
            )
        try:
            self._await_answer(self._process)
        except BaseException:
            end(self._process)
            raise

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            end(self._process)

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                message = f"the server ended with {process.returncode}: {self._output()}"
                raise ServerProcessError(message)
            try:
                answer = httpx.get(self._answers_at, timeout=2.0, trust_env=False)
            except httpx.TransportError:
                time.sleep(POLL_SECONDS)
                continue
            if answer.is_success:
                return
            time.sleep(POLL_SECONDS)
        message = f"the server did not answer within {START_SECONDS:.0f} s: {self._output()}"
        raise ServerProcessError(message)

    def _output(self) -> str:
        return self._log_file.read_text(errors="replace")[-2000:]


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Terminates a child and waits for its end; kills it after ten seconds."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
