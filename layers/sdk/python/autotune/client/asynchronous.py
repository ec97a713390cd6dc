"""The client for an asyncio event loop."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, closing, suppress
from contextvars import copy_context
from typing import Self, TypeVar

import httpx

from autotune.client.exchange import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
    FETCHED_PIECE_BYTES,
    Course,
    Fetch,
    Pause,
    Reply,
    Step,
    Work,
    closed_client,
    open_session,
)
from autotune.client.parts import ClientParts

T = TypeVar("T")


class AsyncAutotuneClient(ClientParts):
    """Calls the Autotune API from an asyncio event loop.

    The methods are those of ``AutotuneClient``, as coroutines; lists are asynchronous iterators.

    Example:
        >>> async with AsyncAutotuneClient() as client:
        ...     async for task in client.tasks.list():
        ...         print(task.id, task.name)
    """

    is_async = True

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Find address and key; nothing is sent yet. Arguments are those of ``AutotuneClient``.

        Raises:
            ConfigurationError: address or key is missing or cannot be used.
        """
        self._session = open_session(
            base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        self._owns_http = http_client is None
        self._http = httpx.AsyncClient() if http_client is None else http_client

    async def carry_out(self, course: Course[T]) -> T:
        """Follow a course on the event loop to its result."""
        reply: Reply = None
        with closing(course):
            while True:
                try:
                    step = course.send(reply)
                except StopIteration as finished:
                    result: T = finished.value
                    return result
                reply = await self._perform(step)

    async def close(self) -> None:
        """Close the connections that this client opened."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _perform(self, step: Step) -> Reply:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Work):
            await _in_thread(step.do)
            return None
        try:
            if isinstance(step, Fetch):
                return await self._fetch(step)
            return await self._http.send(step.request(self._http), follow_redirects=False)
        except httpx.RequestError as error:
            return error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise closed_client() from error

    async def _fetch(self, step: Fetch) -> httpx.Response:
        response = await self._http.send(
            step.request(), auth=None, follow_redirects=False, stream=True
        )
        async with aclosing(response):
            if response.is_success:
                async for piece in response.aiter_raw(FETCHED_PIECE_BYTES):
                    await _in_thread(step.take, piece)
        return response


async def _in_thread(do: Callable[..., None], *args: object) -> None:
    """Do what blocks in a thread, to its end even where this is canceled.

    A thread cannot be stopped, and who cancels puts away next what it works with. It is no task:
    an event loop that ends cancels those.
    """
    loop = asyncio.get_running_loop()
    doing = loop.run_in_executor(None, copy_context().run, do, *args)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([doing])
        raise
