"""How a deferred grader does its work after it answered 202."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from autotune.grader.callback import (
    Callback,
    CallbackRefusedError,
    CallbackUnreachableError,
    DeferredJob,
)

_logger = logging.getLogger("autotune.grader")

Enqueue = Callable[[DeferredJob], Awaitable[None] | None]
"""Hands a job to whatever works it off, such as a queue; what it raises is answered 503."""

Judge = Callable[[DeferredJob], Awaitable[bytes]]
"""Returns the body that answers a job."""

Connect = Callable[[DeferredJob], Callback]
"""Returns what speaks to a job's callback URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """How answers are deferred.

    Attributes:
        enqueue: takes jobs; without it they are worked off in this process, where it stays alive.
        estimated_seconds: named in each 202.
        heartbeat_seconds: how often this process gives a sign of life while it works on a job.
    """

    enqueue: Enqueue | None = None
    estimated_seconds: float | None = None
    heartbeat_seconds: float | None = None


class Work:
    """Works deferred jobs off: judges, gives signs of life, answers."""

    def __init__(
        self, judge: Judge, connect: Connect, *, heartbeat_seconds: float | None = None
    ) -> None:
        self._judge = judge
        self._connect = connect
        self._heartbeat_seconds = heartbeat_seconds
        self._tasks: set[asyncio.Task[None]] = set()

    async def do(self, job: DeferredJob) -> None:
        """Work a job off.

        Raises:
            CallbackRefusedError: the answer is not taken.
            CallbackUnreachableError: Autotune could not be reached.
        """
        with self._connect(job) as callback:
            beating = asyncio.create_task(self._beat(callback))
            try:
                answer = await self._judge(job)
            finally:
                beating.cancel()
                with suppress(asyncio.CancelledError):
                    await beating
            await asyncio.to_thread(callback.answer, answer)

    def start(self, job: DeferredJob) -> None:
        """Work a job off beside the requests that this process answers; it ends with the process.

        Without an answer Autotune fails its completions when their time is up, or their next sign
        of life: what must outlive this process is for a queue.
        """
        task = asyncio.get_running_loop().create_task(self._do_and_log(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do_and_log(self, job: DeferredJob) -> None:
        try:
            await self.do(job)
        except (CallbackRefusedError, CallbackUnreachableError):
            _logger.exception("the answer to %s was not taken", job.request_id)

    async def _beat(self, callback: Callback) -> None:
        while self._heartbeat_seconds is not None:
            await asyncio.sleep(self._heartbeat_seconds)
            try:
                await asyncio.to_thread(callback.heartbeat)
            except CallbackRefusedError as error:
                _logger.warning("nobody waits for this answer any more: %s", error)
                return
            except CallbackUnreachableError as error:
                _logger.warning("a sign of life did not arrive: %s", error)


async def hand_over(enqueue: Enqueue, job: DeferredJob) -> None:
    """Call the owner's function, plain or async; a plain one runs in a thread."""
    returned = await asyncio.to_thread(enqueue, job)
    if inspect.isawaitable(returned):
        await returned
