"""An HTTP server on loopback that answers what it is told, one answer a request."""

import socket
import socketserver
import ssl
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import sleep
from typing import BinaryIO

CLOSES = b""
"""In place of an answer: the connection ends."""
SLEEPS = b"..."
"""In place of an answer: nothing comes for three seconds."""


def answer(
    content: bytes, *, status: int = 200, checksum: int | None = None, **headers: str
) -> bytes:
    """Return an answer as DynamoDB sends it."""
    said = {
        "Content-Length": str(len(content)),
        "X-Amzn-RequestId": "ASKED",
        "x-amz-crc32": str(zlib.crc32(content) if checksum is None else checksum),
        **headers,
    }
    lines = [f"HTTP/1.1 {status} Any", *(f"{name}: {value}" for name, value in said.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


@dataclass
class Scripted:
    """What the server has heard.

    Attributes:
        bodies: of requests.
        heads: of requests.
        connections: how many there were.
    """

    url: str
    bodies: list[bytes] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    connections: int = 0


@contextmanager
def scripted(
    answers: Sequence[bytes], *, port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[Scripted]:
    """Serve answers, the last of them to whatever comes after it."""
    left = list(answers)
    opened: list[socket.socket] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            heard.connections += 1
            opened.append(self.connection)
            while head := _head(self.rfile):
                length = next(line for line in head if line.lower().startswith("content-length"))
                heard.heads.append("\n".join(head))
                heard.bodies.append(self.rfile.read(int(length.partition(":")[2])))
                if not self._says(left.pop(0) if len(left) > 1 else left[0]):
                    return

        def _says(self, said: bytes) -> bool:
            """Answer; return whether the connection is kept."""
            if said == SLEEPS:
                sleep(3)
            if said in {SLEEPS, CLOSES}:
                return False
            self.wfile.write(said)
            return b"connection: close" not in said.lower()

    with _Server(("127.0.0.1", port), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        place = f"{'localhost' if tls else '127.0.0.1'}:{server.server_address[1]}"
        heard = Scripted(f"{'https' if tls else 'http'}://{place}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield heard
        finally:
            server.shutdown()
            thread.join()
            for one in opened:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)


def _head(lines: BinaryIO) -> list[str]:
    head = []
    while line := lines.readline().strip():
        head.append(line.decode())
    return head


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: who refuses its certificate hangs up."""
