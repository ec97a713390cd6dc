"""A process on a leash: it ends when it is asked to, or when the server does."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LEASH = Path(__file__).with_name("leash.py")


class LeashedProcess:
    """A command with its log in a file.

    Args:
        command: What is run.
        environment: All of its environment.
        folder: Where it runs.
        log_file: What it prints is added to this.
        grace_seconds: Between being asked to end and being killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log_file: Path,
        grace_seconds: float,
    ) -> None:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        with log_file.open("ab") as log:
            self._process = subprocess.Popen(
                # -I and -S: nothing of the environment or of site-packages, so that it starts fast.
                [sys.executable, "-I", "-S", str(LEASH), str(grace_seconds), *command],
                cwd=folder,
                env={"PYTHONUNBUFFERED": "1", **environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # The server's own group is signalled as a whole, and this one ends by its leash.
                start_new_session=True,
                bufsize=0,
            )

    @property
    def pid(self) -> int:
        """Of the leash, whose only child is the command."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """Return the command's exit code, 128 and more for a signal; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if it still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def ask_to_end(self) -> None:
        """Have it end within its grace; do not wait for that."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(b".")

    def let_go(self) -> int:
        """Have it end now, wait for that, and return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait()


def base_environment() -> dict[str, str]:
    """Return what a job or a host has of this process's environment: nothing of AWS."""
    kept = (
        *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "VIRTUAL_ENV"),
        *("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
    )
    return {name: os.environ[name] for name in kept if name in os.environ}
