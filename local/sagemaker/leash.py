"""Runs a command that ends with the process that started it, however that one ends.

``python leash.py SECONDS COMMAND...``: standard input is a pipe from the starter. A byte asks the
command to end: it and all that it started get SIGTERM, and SIGKILL after SECONDS. Once the pipe is
closed, which the system does for a starter that is killed as well, they have half a second. So no
server has to be alive to end its children, and none is found by its name. It imports little, since
a job's start waits for it.
"""

import math
import os
import select
import signal
import subprocess
import sys
import time

_LET_GO_SECONDS = 0.5


def main(arguments: list[str]) -> int:
    """Run the command and return its exit code, 128 and more for a signal as shells have it."""
    grace_seconds, *command = arguments
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    # From here on these are for the starter, which then lets go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _follow(child, woken, grace_seconds=float(grace_seconds))
    # What it started and left behind.
    _signal(child, signal.SIGKILL)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _follow(child: "subprocess.Popen[bytes]", woken: int, *, grace_seconds: float) -> None:
    starter = sys.stdin.fileno()
    watched = [woken, starter]
    kill_at = math.inf
    while child.poll() is None:
        left = kill_at - time.monotonic()
        if left <= 0:
            _signal(child, signal.SIGKILL)
            child.wait()
            return
        # SIGCHLD may have come before there was a handler: so it looks from time to time.
        ready, _, _ = select.select(watched, [], [], min(left, 1.0))
        if woken in ready:
            os.read(woken, 100)
        if starter in ready:
            seconds = grace_seconds
            if not os.read(starter, 100):
                watched.remove(starter)
                seconds = _LET_GO_SECONDS
            _signal(child, signal.SIGTERM)
            kill_at = min(kill_at, time.monotonic() + seconds)


def _signal(child: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
