"""The ``autotune`` command as the demo runs it, shown on this terminal."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotune import AutotuneClient
from local.deployment import REPOSITORY_ROOT
from local.records import LocalProfile

AUTOTUNE = Path(sys.executable).with_name("autotune")
REVIEW_SECONDS = 60


class DemoError(RuntimeError):
    """A step of the demo did not end as it should."""


class CommandLine:
    """The ``autotune`` command, shown as it runs.

    Args:
        profile: The stack that it talks to.
    """

    def __init__(self, profile: LocalProfile) -> None:
        self._profile = profile
        mine = {name: text for name, text in os.environ.items() if not name.startswith("AUTOTUNE_")}
        self.environment: Mapping[str, str] = {
            **mine,
            "AUTOTUNE_BASE_URL": profile.base_url,
            "AUTOTUNE_API_KEY": profile.api_key,
        }

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
        print(
            "\nwaiting until the graders turn out to be less sure than the task wants", flush=True
        )
        with AutotuneClient(base_url=self._profile.base_url, api_key=self._profile.api_key) as api:
            for _ in range(REVIEW_SECONDS):
                if next(iter(api.reviews.list(state="open")), None) is not None:
                    return
                time.sleep(1)
        message = f"no person was asked within {REVIEW_SECONDS} s"
        raise DemoError(message)

    def _run(self, arguments: Sequence[str], *, captures: bool) -> str:
        print(f"\n$ autotune {shlex.join(arguments)}", flush=True)
        finished = subprocess.run(
            [str(AUTOTUNE), *arguments],
            cwd=REPOSITORY_ROOT,
            env=dict(self.environment),
            stdout=subprocess.PIPE if captures else None,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            message = f"autotune {arguments[0]} ended with {finished.returncode}"
            raise DemoError(message)
        return finished.stdout or ""
