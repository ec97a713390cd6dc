"""Starts, watches and stops one MiniStack process."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import psutil

from local.deployment import REPOSITORY_ROOT
from local.endpoint import LOOPBACK, endpoint_url, isolated_environment
from local.state_files import finish

START_SECONDS = 120.0
STOP_SECONDS = 60.0
# Requests get a second to end before MiniStack saves its state.
SAVE_SECONDS = 6.0
POLL_SECONDS = 0.05
STREAM_POSITIONS = "dynamodb_stream_positions"
HEALTH_PATH = "/_ministack/health"


class MiniStackError(RuntimeError):
    """MiniStack did not start, or did not stop in order."""


class MiniStack:
    """MiniStack with its state in a folder, apart from the terminal that started it.

    It saves its state when it is asked to stop, not when it is killed.

    Args:
        directory: Folder for state, logs and temporary files.
        environment: Further variables, such as ``SFN_WAIT_SCALE``.
    """

    def __init__(self, *, directory: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory.absolute()
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log_file(self) -> Path:
        """What MiniStack itself printed; the functions' logs are in CloudWatch Logs."""
        return self._directory / "ministack.log"

    @property
    def _temporary_directory(self) -> Path:
        return self._directory / "tmp"

    def start(self, *, port: int) -> int:
        """Starts it and waits until it answers.

        Args:
            port: A free port on loopback.

        Returns:
            The process id, which leads a process group of its own.

        Raises:
            MiniStackError: If it ends or does not answer within two minutes.
        """
        self._temporary_directory.mkdir(parents=True, exist_ok=True)
        state = self._directory / "state"
        finish(state)
        _forget_stream_positions(state)
        environment = isolated_environment(
            {
                "BIND_HOST": LOOPBACK,
                # Unlike GATEWAY_PORT, it is no part of queue URLs: saved queues are found again,
                # whatever port the next start gets.
                "EDGE_PORT": str(port),
                # Functions inherit it.
                "AWS_ENDPOINT_URL": endpoint_url(port),
                "PERSIST_STATE": "1",
                "STATE_DIR": str(state),
                "S3_PERSIST": "1",
                "S3_DATA_DIR": str(state / "s3"),
                # Workers have their folders below this one, so that stopping can clear them.
                "TMPDIR": str(self._temporary_directory),
                "LOG_LEVEL": "WARNING",
                # Listeners on fixed ports that nothing here uses.
                "IOT_MTLS_ENABLED": "0",
                "SFTP_ENABLED": "0",
                **self._environment,
            }
        )
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *_command(self._directory), "--port", str(port)],
                cwd=REPOSITORY_ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._await_answer(self._process, port=port)
        except BaseException:
            self.stop(self._process.pid)
            raise
        return self._process.pid

    def runs_as(self, pid: int) -> bool:
        """Whether a process is the MiniStack of this folder, and not another with its old id."""
        if self._process is not None and self._process.pid == pid:
            return self._process.poll() is None
        return _is_ministack(pid, self._directory)

    def stop(self, pid: int) -> None:
        """Asks it to save its state and end, waits for that, and clears what its functions left.

        Does nothing to a process that is not the MiniStack of this folder.

        Args:
            pid: What :meth:`start` returned, here or in an earlier process.

        Raises:
            MiniStackError: If it had to be killed after a minute, so that its state is lost.
        """
        process = _process(pid)
        if process is None or not self.runs_as(pid):
            return
        os.kill(pid, signal.SIGTERM)
        stopped_in_order = self._has_ended(process, within=SAVE_SECONDS)
        if not stopped_in_order:
            # Functions that are at work take the cores that it needs to write its state; their
            # runs are not resumed anyway.
            _signal_group(pid, signal.SIGTERM)
            stopped_in_order = self._has_ended(process, within=STOP_SECONDS - SAVE_SECONDS)
        _signal_group(pid, signal.SIGKILL)
        self._has_ended(process, within=STOP_SECONDS)
        shutil.rmtree(self._temporary_directory, ignore_errors=True)
        if not stopped_in_order:
            message = f"MiniStack did not stop within {STOP_SECONDS:.0f} s and was killed"
            raise MiniStackError(message)

    def _await_answer(self, process: subprocess.Popen[bytes], *, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                message = f"MiniStack ended with {process.returncode}; see {self.log_file}"
                raise MiniStackError(message)
            if answers(port):
                return
            time.sleep(POLL_SECONDS)
        message = f"MiniStack did not answer within {START_SECONDS:.0f} s; see {self.log_file}"
        raise MiniStackError(message)

    def _has_ended(self, process: psutil.Process, *, within: float) -> bool:
        deadline = time.monotonic() + within
        while self._lives(process):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _lives(self, process: psutil.Process) -> bool:
        if self._process is not None and self._process.pid == process.pid:
            return self._process.poll() is None  # reaps it, too
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                return process.is_running()
            # Another's child stays a zombie until that one reaps it. Its first thread alone is one
            # sooner: as long as others live, its ports are open.
            return process.num_threads() > 1
        except psutil.NoSuchProcess:
            return False


def answers(port: int) -> bool:
    """Whether MiniStack answers on a port."""
    try:
        answer = httpx.get(f"{endpoint_url(port)}{HEALTH_PATH}", timeout=2.0, trust_env=False)
    except httpx.TransportError:
        return False
    return answer.status_code == httpx.codes.OK


def _forget_stream_positions(state: Path) -> None:
    """Lets consumers of tables' streams begin with the first record after a restart.

    MiniStack saves how far they came, but not the records, and counts new ones from zero: it would
    take as many new records for consumed as there were old ones.
    """
    file = state / "lambda.json"
    if not file.exists():
        return
    saved = json.loads(file.read_text())
    if saved.get("payload", saved).pop(STREAM_POSITIONS, None) is None:
        return
    changed = file.with_suffix(".changed")
    changed.write_text(json.dumps(saved))
    changed.replace(file)


def _signal_group(pid: int, number: signal.Signals) -> None:
    """Signals MiniStack and the workers of its functions, which are all in its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _process(pid: int) -> psutil.Process | None:
    """The process, distinguished from a later one with its id; None if there is none."""
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def _command(directory: Path) -> list[str]:
    """How it is called, without the port."""
    return ["-m", "local.serve_ministack", "--host", LOOPBACK, "--directory", str(directory)]


def _is_ministack(pid: int, directory: Path) -> bool:
    """Whether a living process serves MiniStack with its state in a folder."""
    process = _process(pid)
    try:
        return process is not None and process.cmdline()[1:-2] == _command(directory)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
