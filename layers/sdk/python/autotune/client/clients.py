"""The clients, blocking and for an event loop, each with a resource for each kind of thing."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing, closing, suppress
from contextvars import copy_context
from typing import ClassVar, Self, TypeVar

import httpx

from autotune.client import exchange
from autotune.client.apprentice import Apprentice, AsyncApprentice
from autotune.client.apprentice_tasks import ApprenticeTasks, AsyncApprenticeTasks
from autotune.client.audit import AsyncAudit, Audit
from autotune.client.batches import AsyncBatches, Batches
from autotune.client.binding import Part
from autotune.client.completions import AsyncCompletions, Completions
from autotune.client.decks import AsyncDecks, Decks
from autotune.client.exports import AsyncExports, Exports
from autotune.client.graders import AsyncGraders, Graders
from autotune.client.keys import AsyncKeys, Keys
from autotune.client.llm import AsyncLlm, Llm
from autotune.client.overview import AsyncOverview, Overview
from autotune.client.reviews import AsyncReviews, Reviews
from autotune.client.reward_urls import AsyncRewardUrls, RewardUrls
from autotune.client.runs import AsyncRuns, Runs
from autotune.client.scores import AsyncScores, Scores
from autotune.client.sessions import AsyncSessions, Sessions
from autotune.client.tasks import AsyncTasks, Tasks
from autotune.client.webhooks import AsyncWebhooks, Webhooks

T = TypeVar("T")


class ClientParts:
    """The resources of a client, each of the client's flavour."""

    is_async: ClassVar[bool] = False
    _session: exchange.Session

    tasks = Part(Tasks, AsyncTasks)
    graders = Part(Graders, AsyncGraders)
    completions = Part(Completions, AsyncCompletions)
    batches = Part(Batches, AsyncBatches)
    runs = Part(Runs, AsyncRuns)
    reviews = Part(Reviews, AsyncReviews)
    scores = Part(Scores, AsyncScores)
    exports = Part(Exports, AsyncExports)
    keys = Part(Keys, AsyncKeys)
    sessions = Part(Sessions, AsyncSessions)
    reward_urls = Part(RewardUrls, AsyncRewardUrls)
    llm = Part(Llm, AsyncLlm)
    decks = Part(Decks, AsyncDecks)
    apprentice = Part(Apprentice, AsyncApprentice)
    apprentice_tasks = Part(ApprenticeTasks, AsyncApprenticeTasks)
    webhooks = Part(Webhooks, AsyncWebhooks)
    audit = Part(Audit, AsyncAudit)
    overview = Part(Overview, AsyncOverview)

    @property
    def session(self) -> exchange.Session:
        """Address, key and settings of this client."""
        return self._session


class AutotuneClient(ClientParts):
    """Calls the Autotune API and blocks until it answers; safe to share between threads.

    Every method takes ``timeout`` and ``extra_headers`` for its call alone: see ``CallOptions``.

    Example:
        >>> with AutotuneClient() as client:
        ...     submitted = client.completions.submit(
        ...         task_id="task_…", model_id="m1", prompt="2 + 2 = ?", response="4"
        ...     )
        ...     verdict = client.completions.wait_for_score(submitted.completion.id, timeout=60)
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | httpx.Timeout = exchange.DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = exchange.DEFAULT_MAX_RETRIES,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Find address and key; nothing is sent yet.

        Args:
            base_url: what ``/api/v1`` hangs below; else ``AUTOTUNE_BASE_URL``, else the nearest
                ``.autotune/local.json``.
            api_key: ``<key id>.<secret>``; else ``AUTOTUNE_API_KEY``, else the same file.
            timeout: seconds to connect and to wait for an answer; a long poll adds its own.
            max_retries: attempts after the first, where repeating is safe.
            http_client: for proxies, certificates or tests; it stays the caller's to close.

        Raises:
            ConfigurationError: address or key is missing or cannot be used.
        """
        self._session = exchange.open_session(
            base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        self._owns_http = http_client is None
        self._http = httpx.Client() if http_client is None else http_client

    def carry_out(self, course: exchange.Course[T]) -> T:
        """Follow a course with blocking I/O to its result."""
        reply: exchange.Reply = None
        with closing(course):
            while True:
                try:
                    step = course.send(reply)
                except StopIteration as finished:
                    result: T = finished.value
                    return result
                reply = self._perform(step)

    def close(self) -> None:
        """Close the connections that this client opened.

        Every call after it raises ``InvalidInputError``.
        """
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _perform(self, step: exchange.Step) -> exchange.Reply:
        if isinstance(step, exchange.Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, exchange.Work):
            step.do()
            return None
        try:
            if isinstance(step, exchange.Fetch):
                return self._fetch(step)
            if isinstance(step, exchange.Upload):
                return self._http.send(step.request(), auth=None, follow_redirects=False)
            return self._http.send(step.request(self._http), follow_redirects=False)
        except httpx.RequestError as error:
            return error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise exchange.closed_client() from error

    def _fetch(self, step: exchange.Fetch) -> httpx.Response:
        response = self._http.send(step.request(), auth=None, follow_redirects=False, stream=True)
        with closing(response):
            if response.is_success:
                for piece in response.iter_raw(exchange.FETCHED_PIECE_BYTES):
                    step.take(piece)
        return response


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
        timeout: float | httpx.Timeout = exchange.DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = exchange.DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Find address and key; nothing is sent yet. Arguments are those of ``AutotuneClient``.

        Raises:
            ConfigurationError: address or key is missing or cannot be used.
        """
        self._session = exchange.open_session(
            base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        self._owns_http = http_client is None
        self._http = httpx.AsyncClient() if http_client is None else http_client

    async def carry_out(self, course: exchange.Course[T]) -> T:
        """Follow a course on the event loop to its result."""
        reply: exchange.Reply = None
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

    async def _perform(self, step: exchange.Step) -> exchange.Reply:
        if isinstance(step, exchange.Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, exchange.Work):
            await _in_thread(step.do)
            return None
        try:
            if isinstance(step, exchange.Fetch):
                return await self._fetch(step)
            if isinstance(step, exchange.Upload):
                return await self._http.send(step.request(), auth=None, follow_redirects=False)
            return await self._http.send(step.request(self._http), follow_redirects=False)
        except httpx.RequestError as error:
            return error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise exchange.closed_client() from error

    async def _fetch(self, step: exchange.Fetch) -> httpx.Response:
        response = await self._http.send(
            step.request(), auth=None, follow_redirects=False, stream=True
        )
        async with aclosing(response):
            if response.is_success:
                async for piece in response.aiter_raw(exchange.FETCHED_PIECE_BYTES):
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
