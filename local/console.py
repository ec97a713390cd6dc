"""Opening the console on a local stack, which is started for it if it does not run."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

from local.records import LocalProfile
from local.stack import LocalStack

AUTOTUNE = Path(sys.executable).with_name("autotune")


class ConsoleError(RuntimeError):
    """There is nothing to show, or the command line could not sign in."""


def show(stack: LocalStack, *, prints: bool) -> None:
    """Opens the console in a browser, and keeps a stack that it started running until Ctrl-C.

    Args:
        stack: Its state is kept: what it holds is there again.
        prints: The address is printed, and no browser opened.

    Raises:
        ConsoleError: If the stack was never up, or no session could be made.
    """
    if stack.profile() is None:
        message = f"{stack.directory} holds no stack; `make demo` and `make up` make one"
        raise ConsoleError(message)
    if stack.status().is_running:
        _open(stack.up(), prints=prints)
        return
    with stack as profile:
        _open(profile, prints=prints)
        print("The stack runs until Ctrl-C; its data stays.", flush=True)
        _wait_for_interrupt()


def _open(profile: LocalProfile, *, prints: bool) -> None:
    mine = {name: text for name, text in os.environ.items() if not name.startswith("AUTOTUNE_")}
    finished = subprocess.run(
        [str(AUTOTUNE), "console", *(["--print"] if prints else [])],
        env={
            **mine,
            "AUTOTUNE_BASE_URL": profile.base_url,
            "AUTOTUNE_API_KEY": profile.api_key,
        },
        check=False,
    )
    if finished.returncode != 0:
        message = f"autotune console ended with {finished.returncode}"
        raise ConsoleError(message)


def _wait_for_interrupt() -> None:
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        ended.wait()
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
