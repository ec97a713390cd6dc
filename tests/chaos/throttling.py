"""A loopback way to DynamoDB on which a table throttles for a while.

Functions reach DynamoDB through ``AWS_ENDPOINT_URL_DYNAMODB``, which they inherit from MiniStack.
Outside a window everything passes as it is; inside one, a share of the requests for the table is
refused as DynamoDB refuses them, and of batch requests half is left unprocessed.
"""

import asyncio
import json
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from local.endpoint import LOOPBACK

_REFUSAL = json.dumps(
    {
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "The level of configured provisioned throughput for the table was exceeded.",
    }
).encode()
_LEFT_OVER = {"BatchWriteItem": "UnprocessedItems", "BatchGetItem": "UnprocessedKeys"}


@dataclass
class Message:
    """One HTTP request or response with a body of known length."""

    start: str
    headers: dict[str, str]
    body: bytes

    @property
    def operation(self) -> str:
        """What the request asks of DynamoDB."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    def encoded(self) -> bytes:
        """Return the bytes on the wire."""
        headers = {**self.headers, "content-length": str(len(self.body))}
        lines = [self.start, *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body


class ThrottlingProxy:
    """Passes requests on to MiniStack, and throttles one table while told to.

    Use it as a context manager; its port stays the same while MiniStack is stopped and started.

    Args:
        upstream: the port of MiniStack now, None while there is none.
    """

    def __init__(self, upstream: Callable[[], int | None], *, seed: int) -> None:
        self._upstream = upstream
        self._draw = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._server: asyncio.Server | None = None
        # The loop itself holds them weakly: those of vanished clients would be collected.
        self._serving: set[asyncio.Task[Any]] = set()
        self._table: bytes | None = None
        self._share = 0.0
        self.url = ""
        self.passed = 0
        self.refused = 0
        self.halved = 0

    def throttle(self, table: str, *, share: float) -> None:
        """Refuse a share of the requests that name a table like this, from now on."""
        self._share, self._table = share, table.encode()

    def relax(self) -> None:
        """Pass everything on again."""
        self._table = None

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
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._pass_on(reader, writer)
        writer.close()
        self._serving.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client's requests, one after the other, until it goes."""
        port = self._upstream()
        if port is None:
            return
        behind = await asyncio.open_connection(LOOPBACK, port)
        try:
            while True:
                request = await _read(reader)
                writer.write((await self._answer(request, *behind)).encoded())
                await writer.drain()
        finally:
            behind[1].close()

    async def _answer(
        self, request: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Message:
        left_over: dict[str, Any] = {}
        if self._table is not None and self._table in request.body:
            if request.operation in _LEFT_OVER and self._draw.random() < self._share:
                request.body, left_over = halved(request.operation, request.body)
                self.halved += 1
            elif self._draw.random() < self._share:
                self.refused += 1
                headers = {"content-type": "application/x-amz-json-1.0"}
                return Message("HTTP/1.1 400 Bad Request", headers, _REFUSAL)
        self.passed += 1
        writer.write(request.encoded())
        response = await _read(reader)
        if left_over:
            response.body = json.dumps(json.loads(response.body) | left_over).encode()
            response.headers.pop("x-amz-crc32", None)
        return response


def halved(operation: str, body: bytes) -> tuple[bytes, dict[str, Any]]:
    """Cut a batch request in two: what is done, and what the answer names as not done.

    Returns:
        The body to pass on, and the fields of the answer; no fields where there is but one item.
    """
    asked = json.loads(body)
    done: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for table, wanted in asked["RequestItems"].items():
        is_read = operation == "BatchGetItem"
        items = wanted["Keys"] if is_read else wanted
        half = (len(items) + 1) // 2
        done[table] = {**wanted, "Keys": items[:half]} if is_read else items[:half]
        if items[half:]:
            left[table] = {**wanted, "Keys": items[half:]} if is_read else items[half:]
    passed_on = json.dumps({**asked, "RequestItems": done}).encode()
    return passed_on, {_LEFT_OVER[operation]: left} if left else {}


async def _read(reader: asyncio.StreamReader) -> Message:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    start, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
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
