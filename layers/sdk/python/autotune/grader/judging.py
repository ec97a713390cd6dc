"""Calling the owner's function, what it may return, and how that becomes a score."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from numbers import Real
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from autotune.protocol.grading import GradedCompletion, GraderScore, ScoreOptions

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Abstain(Exception):  # noqa: N818 - abstaining is an answer, not an error
    """Raise or return it when there is no honest score, such as for a missing reference.

    The completion's verdict becomes ``abstained``: no value, and no failure. ``reason`` stays with
    the owner; it is logged at level DEBUG and never sent.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidScoreError(ValueError):
    """The function returned what is no score: NaN, 1.2, a boolean, text, None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderContext:
    """What a function that takes a second argument learns about the request.

    Attributes:
        request_id: the id that Autotune gave the request; a batch shares one.
        options: whether dimensions and an explanation are wanted; costly ones can be skipped.
    """

    request_id: str = ""
    options: ScoreOptions = field(default_factory=ScoreOptions)


def score_from(returned: object) -> GraderScore:
    """Return the score that a grader's function meant.

    Args:
        returned: a real number from 0 to 1, a ``GraderScore``, or ``Abstain`` (class or instance).

    Raises:
        Abstain: that is what was returned.
        InvalidScoreError: anything else; the message names the fault, not the completion.
    """
    if isinstance(returned, Abstain) or returned is Abstain:
        raise returned
    if isinstance(returned, GraderScore):
        # Checked again, because model_construct and object.__setattr__ go round the model's rules.
        fields: dict[str, object] = returned.model_dump(warnings=False)
    elif isinstance(returned, Real) and not isinstance(returned, bool):
        fields = {"value": float(returned)}
    else:
        raise InvalidScoreError(
            "a grader returns a number from 0 to 1, a GraderScore or Abstain, "
            f"not {type(returned).__name__}"
        )
    try:
        return GraderScore.model_validate(fields)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False)
        )
        # The model's own message repeats the input, which may hold the completion.
        raise InvalidScoreError(f"the grader's score is out of its bounds: {faults}") from None


def with_options(score: GraderScore, options: ScoreOptions) -> GraderScore:
    """Return ``score`` without the dimensions and reasoning that were not asked for."""
    return score.model_copy(
        update={
            "dimensions": score.dimensions if options.include_dimensions else None,
            "reasoning": score.reasoning if options.include_explanation else None,
        }
    )


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
