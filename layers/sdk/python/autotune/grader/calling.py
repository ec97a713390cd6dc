"""Calling the owner's function: plain or async, with or without context, never too many at once."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

from autotune.grader.judging import GraderContext
from autotune.protocol.grading import GradedCompletion

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class GraderDefinitionError(TypeError):
    """``@grader`` was given a function or a setting that cannot make a grader."""


class BoundedFunction:
    """The owner's function behind one awaitable call, at most ``max_concurrency`` at a time.

    A plain function runs in a thread of its own pool, so that it never blocks the event loop and
    therefore has to be thread-safe unless ``max_concurrency`` is 1. An async function runs on the
    loop. The bound holds for the process, whatever number of requests comes in.
    """

    def __init__(self, function: Callable[..., object], *, max_concurrency: int) -> None:
        if max_concurrency < 1:
            raise GraderDefinitionError("max_concurrency must be at least 1")
        self._function = function
        self._max_concurrency = max_concurrency
        self._takes_context = _takes_context(function)
        self._is_async = _is_async(function)
        self._threads: ThreadPoolExecutor | None = None
        self._slots_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def __call__(self, completion: GradedCompletion, context: GraderContext) -> object:
        """Return what the function returns; raise what it raises."""
        arguments = (completion, context) if self._takes_context else (completion,)
        if not self._is_async:
            returned = await self._call_in_thread(arguments)
        else:
            async with self._slots():
                returned = self._function(*arguments)
                return await returned if inspect.isawaitable(returned) else returned
        if inspect.isawaitable(returned):  # a plain wrapper around an async function
            async with self._slots():
                return await returned
        return returned

    async def _call_in_thread(self, arguments: tuple[object, ...]) -> object:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._max_concurrency, "autotune-grader")
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, contextvars.copy_context().run, self._call_plainly, arguments
        )

    def _call_plainly(self, arguments: tuple[object, ...]) -> object:
        try:
            return self._function(*arguments)
        except StopIteration as error:
            # A future cannot carry StopIteration: whoever awaits it would wait for ever.
            raise RuntimeError("the grader's function raised StopIteration") from error

    def _slots(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        slots = self._slots_by_loop.get(loop)
        if slots is None:
            slots = self._slots_by_loop[loop] = asyncio.Semaphore(self._max_concurrency)
        return slots


def _is_async(function: Callable[..., object]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _takes_context(function: Callable[..., object]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    keywords = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    ]
    if not positional or len(required) > 2 or keywords:
        raise GraderDefinitionError(
            f"{getattr(function, '__name__', function)!s} must take a completion, or a completion "
            "and a context, by position"
        )
    # A second parameter with a default is the owner's own, unless its name says otherwise.
    return len(required) == 2 or (len(positional) > 1 and positional[1].name == "context")
