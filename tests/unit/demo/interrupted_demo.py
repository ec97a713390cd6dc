"""A demo whose stack is none and whose parts sleep, run as a process of its own."""

import sys
from pathlib import Path
from types import TracebackType

from local import demo
from local.demo_commands import CommandLine
from local.records import LocalProfile

PROFILE = LocalProfile(
    base_url="http://127.0.0.1:1/x",
    api_key="key_1.abc",
    organization_id="org_1",
    aws_endpoint_url="http://127.0.0.1:1",
)
SLEEP = """
import os, sys, time
print("begun", flush=True)
written = sys.argv[1] + ".unfinished"
with open(written, "w") as file:
    file.write(str(os.getpid()))
os.rename(written, sys.argv[1])
time.sleep(600)
"""


class Stack:
    """What the demo has in place of the stack."""

    def __init__(self, **_: object) -> None:
        """It is nowhere."""

    def down(self) -> None:
        """It never was up."""

    def __enter__(self) -> LocalProfile:
        demo.DIRECTORY.mkdir()
        return PROFILE

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        print("the stack is down")


def sleep_in(autotune: CommandLine, pid_file: Path) -> None:
    """Run a command that writes its process id and sleeps for minutes."""
    autotune.run([sys.executable, "-c", SLEEP, str(pid_file)])


def main(pids: Path) -> int:
    """Run the demo; each part writes its process id."""
    vars(demo).update(
        DIRECTORY=pids / "demo",
        LocalStack=Stack,
        judge_a_deck=lambda autotune, **_: sleep_in(autotune, pids / "deck.pid"),
        score_completions=lambda autotune: sleep_in(autotune, pids / "main.pid"),
    )
    return demo.main()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
