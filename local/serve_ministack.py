"""Serves MiniStack by uvicorn and httptools, run as a module by :mod:`local.ministack`.

MiniStack is an ASGI application; its own command serves it by hypercorn and h11, which took more
than half of its time: 0.6 ms of CPU a call, against 0.3 ms here.
"""

import argparse
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn

from local import (
    deployed_stacks,
    key_conditions,
    nested_stacks,
    permissions,
    sagemaker_beside,
    saved_state,
    task_timeouts,
    unpacked_code,
    warm_workers,
)
from local.decisions import DECISIONS_FILE

APPLICATION = "ministack.app:app"
KEEP_ALIVE_SECONDS = 75  # as MiniStack's own command has it
LAST_REQUESTS_SECONDS = 1  # what a function asks for from then on is refused anyway


def main() -> None:
    """Serve until SIGTERM; MiniStack saves its state then."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--directory", type=Path, required=True, help="what it writes goes here")
    arguments = parser.parse_args()
    os.chdir(arguments.directory)
    # Each worker of a function has pipes, and connections of its own.
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS has no limit here, and takes none
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    warm_workers.install()
    unpacked_code.install(Path(unpacked_code.UNPACKED_FOLDER).absolute())
    nested_stacks.install()
    deployed_stacks.install()
    task_timeouts.install()
    key_conditions.install()
    beside = sagemaker_beside.install(arguments.directory)
    permissions.install(arguments.directory / DECISIONS_FILE)
    saved_state.install()
    _end_with(beside)
    uvicorn.run(
        APPLICATION,
        host=arguments.host,
        port=arguments.port,
        http="httptools",
        loop="asyncio",
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,  # MiniStack answers with the headers that AWS has
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=LAST_REQUESTS_SECONDS,
    )


def _end_with(beside: sagemaker_beside.Beside) -> None:
    """Have SageMaker end once MiniStack is done: uvicorn hands SIGTERM on then."""

    def end(number: int, _frame: FrameType | None) -> None:
        beside.close()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    signal.signal(signal.SIGTERM, end)


if __name__ == "__main__":
    main()
