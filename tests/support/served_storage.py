"""The bucket of exports behind a real port, at which downloads break as they are told to.

Like S3 it takes a link instead of any other permission, and only until the link expires.
"""

import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import boto3
from botocore.exceptions import ClientError

_BUCKET = "exports"
_LINK = re.compile(rb"https://" + _BUCKET.encode() + rb"\.s3[^/\"]*(/[^\"]*)")


@dataclass(frozen=True)
class Breakage:
    """What happens to the next request for a file whose name ends with ``of``."""

    of: str = ""
    status: int | None = None
    cut_after: int | None = None
    wrong_byte_at: int | None = None
    more: bytes = b""
    delay_seconds: float = 0


@dataclass(frozen=True)
class Asked:
    name: str
    headers: Mapping[str, str]


class ServedStorage:
    """Notes what it was asked for."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.asked: list[Asked] = []
        self.breakages: deque[Breakage] = deque()
        self.at_once = 0
        self.most_at_once = 0
        self.resting = threading.Event()
        self._signatures: set[str] = set()
        self._lock = threading.Lock()

    def lead_here(self, content: bytes) -> bytes:
        """Have the links in an answer lead to this storage, where they hold from now on."""

        def here(link: re.Match[bytes]) -> bytes:
            self._signatures.add(_signature(link[1].decode()))
            return self.address.encode() + b"/" + _BUCKET.encode() + link[1]

        return _LINK.sub(here, content)

    def expire_links(self) -> None:
        self._signatures.clear()

    def break_next(self, *breakages: Breakage) -> None:
        self.breakages.extend(breakages)

    def names_asked(self) -> list[str]:
        return [asked.name.rpartition("/")[2] for asked in self.asked]

    def stored(self, name: str) -> bytes:
        """Return the only object whose name ends so."""
        found = boto3.client("s3").list_objects_v2(Bucket=_BUCKET)["Contents"]
        (key,) = [one["Key"] for one in found if one["Key"].endswith(name)]
        return self.read(key)

    def read(self, key: str) -> bytes:
        body: bytes = boto3.client("s3").get_object(Bucket=_BUCKET, Key=key)["Body"].read()
        return body

    def take(self, name: str, headers: Mapping[str, str]) -> Breakage:
        with self._lock:
            self.asked.append(Asked(name, headers))
            for breakage in self.breakages:
                if name.endswith(breakage.of):
                    self.breakages.remove(breakage)
                    return breakage
        return Breakage()

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            yield
        finally:
            with self._lock:
                self.at_once -= 1

    def refusal(self, target: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Refuse as S3 does: one kind of permission, which has not expired."""
        if "authorization" in headers:
            return 400, "InvalidArgument"
        if _signature(target) not in self._signatures:
            return 403, "AccessDenied"
        return None


def _signature(target: str) -> str:
    return parse_qs(urlsplit(target).query).get("X-Amz-Signature", [""])[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    storage: ServedStorage

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Headers and body would otherwise wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        storage = self.server.storage
        name = unquote(urlsplit(self.path).path.removeprefix(f"/{_BUCKET}/"))
        headers = {header.lower(): value for header, value in self.headers.items()}
        with storage.counted():
            breakage = storage.take(name, headers)
            storage.resting.wait(breakage.delay_seconds)
            refusal = storage.refusal(self.path, headers)
            if breakage.status is not None:
                refusal = breakage.status, "SlowDown"
            if refusal is not None:
                self._send(refusal[0], f"<Error><Code>{refusal[1]}</Code></Error>".encode())
                return
            try:
                content = storage.read(name) + breakage.more
            except ClientError:
                self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
                return
            if (at := breakage.wrong_byte_at) is not None:
                content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
            self._send(200, content, cut_after=breakage.cut_after)

    def _send(self, status: int, content: bytes, *, cut_after: int | None = None) -> None:
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:cut_after])
        if cut_after is not None:
            self.close_connection = True


@contextmanager
def serve_storage() -> Iterator[ServedStorage]:
    """Serve the bucket until the block is left."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.storage = ServedStorage(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.storage
    finally:
        server.storage.resting.set()
        server.shutdown()
        thread.join()
        server.server_close()
