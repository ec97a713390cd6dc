"""A grader of the examples, served on loopback for as long as a block runs."""

from collections.abc import Mapping
from pathlib import Path

from local.endpoint import LOOPBACK
from local.server_process import ServerProcess


class GraderProcess(ServerProcess):
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
        super().__init__(
            arguments=[str(command), "grader", "serve", str(source), "--port", str(port)],
            answers_at=f"http://{LOOPBACK}:{port}/health",
            environment=environment,
            log_file=log_file,
        )
