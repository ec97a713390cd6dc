"""``autotune`` in a shell, each time forked from one process that has imported all of it.

A guide has dozens of commands, and to start one is a second of CPU, nearly all of it imports. Each
is still a process of its own, with the arguments, folder, environment, streams and exit status that
the shell gives and gets.

``python tests/support/forked_commands.py SOCKET`` is that one process; it ends with its input.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_ASKING = """#!{python} -ISE
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
socket.send_fds(connection, [b"3"], [0, 1, 2])
asked = [sys.argv[1:], os.getcwd(), dict(os.environ)]
connection.sendall(json.dumps(asked).encode())
connection.shutdown(socket.SHUT_WR)
sys.exit(connection.recv(1)[0])
"""


class Shell:
    """Runs commands of guides.

    Args:
        folder: where ``autotune`` is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(
        self, commands: str, *, cwd: Path | None = None, options: str = "-euo", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run commands, and return what they printed and how they ended.

        Args:
            options: bash's; ``-uo`` goes on after a command that fails.
            environment: what there is beside the variables of this process.
        """
        path = f"{self._folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", options, "pipefail"],
            input=commands,
            cwd=cwd,
            text=True,
            capture_output=True,
            check=False,
            env={**os.environ, "PATH": path, **environment},
        )


@contextmanager
def forking_shell() -> Iterator[Shell]:
    """Provide a shell; what its commands are forked from is started for all of them."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        address = str(folder / "socket")
        command = folder / "autotune"
        command.write_text(_ASKING.format(python=sys.executable, address=address))
        command.chmod(0o755)
        # Without the folder of this file, whose ``platform`` is another than Python's.
        start = [sys.executable, "-P", __file__, address]
        with subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"listens\n"
            yield Shell(folder)


def _listen(address: str) -> None:
    """Answer each connection with the exit status of the command that it asks for."""
    import autotune.cli.application  # noqa: F401 - not where tests import this

    # Nobody waits for those that wait for commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("listens", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
                return
            connection.close()


def _answer(connection: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as asking:
        arguments, folder, environment = json.load(asking)
    command = os.fork()
    if command == 0:
        connection.close()
        _become(arguments, folder, environment, streams)
        return
    # Whoever reads what the command prints waits until nobody can print any more.
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    _, status = os.waitpid(command, 0)
    code = os.waitstatus_to_exitcode(status)
    # As a shell tells of a signal.
    connection.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _become(
    arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]
) -> None:
    """Be the command: what runs from here on ends this process."""
    from autotune.cli import main

    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    main()


if __name__ == "__main__":
    _listen(*sys.argv[1:])
