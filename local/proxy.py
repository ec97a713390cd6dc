"""A loopback way to MiniStack that sees every request and answer."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from local.endpoint import LOOPBACK

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Message:
    """One HTTP request or response with a body of known length."""

    start: str
    headers: dict[str, str]
    body: bytes

    @property
    def operation(self) -> str:
        """What a request asks of a service that speaks JSON, such as DynamoDB."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    def encoded(self) -> bytes:
        """Return the bytes on the wire."""
        headers = {**self.headers, "content-length": str(len(self.body))}
        lines = [self.start, *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body


class LoopbackProxy:
    """Passes requests on, and what comes back; subclasses look at them, or answer in their place.

    Use it as a context manager; its port stays the same while MiniStack is stopped and started.

    Args:
        upstream: the port of MiniStack now, None while there is none.

    Attributes:
        url: where it listens.
    """

    def __init__(self, upstream: Callable[[], int | None]) -> None:
        self._upstream = upstream
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._server: asyncio.Server | None = None
        # The loop itself holds them weakly: those of vanished clients would be collected.
        self._serving: set[asyncio.Task[Any]] = set()
        self.url = ""

    async def answer(self, request: Message, behind: Connection) -> Message:
        """Answer a request; ``pass_on`` asks MiniStack."""
        return await self.pass_on(request, behind)

    async def pass_on(self, request: Message, behind: Connection) -> Message:
        """Return what MiniStack answers."""
        reader, writer = behind
        writer.write(request.encoded())
        return await _read(reader)

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.start_server(self._serve, LOOPBACK, 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        self.url = f"http://{LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        # A connection that breaks on either side breaks on the other; the client tries again.
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._serve_until_gone(reader, writer)
        writer.close()
        self._serving.discard(task)

    async def _serve_until_gone(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one client's requests, one after the other, until it goes."""
        port = self._upstream()
        if port is None:
            return
        behind = await asyncio.open_connection(LOOPBACK, port)
        try:
            while True:
                request = await _read(reader, writer)
                writer.write((await self.answer(request, behind)).encoded())
                await writer.drain()
        finally:
            behind[1].close()


async def _read(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None = None
) -> Message:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    start, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if headers.pop("expect", None) and writer is not None:
        # S3's clients send a body once they are asked to; it is passed on as a whole.
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        del headers["transfer-encoding"]
        return Message(start, headers, await _chunks(reader))
    return Message(start, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readline()).strip().split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body
