"""The ``autotune`` command as the demo runs it, shown on this terminal or kept for later."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO, Any

from autotune import AutotuneClient
from local.deployment import REPOSITORY_ROOT
from local.records import LocalProfile
from local.server_process import end

AUTOTUNE = Path(sys.executable).with_name("autotune")
REVIEW_SECONDS = 60


class DemoError(RuntimeError):
    """A step of the demo did not end as it should."""


class CommandLine:
    """The ``autotune`` command, shown as it runs.

    Args:
        profile: The stack that it talks to.
        kept_in: Where its output goes, with that of the commands, instead of this terminal.

    Attributes:
        seconds: How long each part took, in their order.
    """

    def __init__(self, profile: LocalProfile, *, kept_in: IO[str] | None = None) -> None:
        self._profile = profile
        self._kept_in = kept_in
        self._starting = Lock()
        self._is_stopped = False
        self._process: subprocess.Popen[str] | None = None
        self.seconds: dict[str, float] = {}
        mine = {name: text for name, text in os.environ.items() if not name.startswith("AUTOTUNE_")}
        self.environment: Mapping[str, str] = {
            **mine,
            "AUTOTUNE_BASE_URL": profile.base_url,
            "AUTOTUNE_API_KEY": profile.api_key,
        }

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Times a part of the demo."""
        started = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - started

    def say(self, line: str) -> None:
        """Prints a line where the output goes."""
        print(line, file=self._kept_in, flush=True)

    def beside(self, kept_in: IO[str]) -> "CommandLine":
        """Another one for the same stack, whose output is kept in a file."""
        return CommandLine(self._profile, kept_in=kept_in)

    def stop(self) -> None:
        """Ends the command that another thread runs, and lets it begin no other."""
        with self._starting:
            self._is_stopped = True
            if self._process is not None and self._process.poll() is None:
                self.say("\nstopped, because the rest of the demo was")
                self._process.terminate()

    def show(self, *arguments: str) -> None:
        """Runs a command with its output on this terminal.

        Raises:
            DemoError: If it does not end with 0.
        """
        self._run(arguments, captures=False)

    def read(self, *arguments: str) -> dict[str, Any]:
        """Runs a command with ``--json`` and returns what it answers.

        Raises:
            DemoError: If it does not end with 0, or answers no JSON object.
        """
        output = self._run([*arguments, "--json"], captures=True)
        try:
            answer = json.loads(output)
        except json.JSONDecodeError as error:
            message = f"autotune {arguments[0]} --json answered no JSON: {output[:500]}"
            raise DemoError(message) from error
        if not isinstance(answer, dict):
            message = f"autotune {arguments[0]} --json answered no JSON object: {output[:500]}"
            raise DemoError(message)
        return answer

    def lines(self, *arguments: str) -> list[str]:
        """Runs a command and returns the lines that it prints.

        Raises:
            DemoError: If it does not end with 0.
        """
        return self._run(arguments, captures=True).splitlines()

    def wait_for_review(self) -> None:
        """Waits until a person is asked for their judgement.

        Raises:
            DemoError: If nobody is asked within a minute.
        """
        self.say("\nwaiting until the graders turn out to be less sure than the task wants")
        with AutotuneClient(base_url=self._profile.base_url, api_key=self._profile.api_key) as api:
            for _ in range(REVIEW_SECONDS):
                if next(iter(api.reviews.list(state="open")), None) is not None:
                    return
                time.sleep(1)
        message = f"no person was asked within {REVIEW_SECONDS} s"
        raise DemoError(message)

    def run(self, command: Sequence[str], *, captures: bool = False) -> str:
        """Runs any command of the demo and returns what it printed, if that is captured.

        Raises:
            DemoError: If it does not end with 0, or the demo is being stopped.
        """
        with self._starting:
            if self._is_stopped:
                message = "stopped"
                raise DemoError(message)
            self._process = subprocess.Popen(
                command,
                cwd=REPOSITORY_ROOT,
                env=dict(self.environment),
                stdout=subprocess.PIPE if captures else self._kept_in,
                stderr=self._kept_in,
                text=True,
            )
        try:
            output, _ = self._process.communicate()
        except BaseException:
            # Such as Ctrl-C: a signal to this process alone does not reach the command.
            end(self._process)
            raise
        if self._process.returncode != 0:
            message = f"{Path(command[0]).name} {command[1]} ended with {self._process.returncode}"
            raise DemoError(message)
        return output or ""

    def _run(self, arguments: Sequence[str], *, captures: bool) -> str:
        self.say(f"\n$ autotune {shlex.join(arguments)}")
        return self.run([str(AUTOTUNE), *arguments], captures=captures)
