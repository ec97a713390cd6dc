"""Binds functions that describe calls to clients that make them.

``get = Method(get_task)`` gives a resource a method with the parameters and the docstring of
``get_task`` that returns what the described call returns; ``AsyncMethod`` gives the coroutine.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from autotune.client.calls import Call, Listing
from autotune.client.exchange import Course, Session

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    """Carries out courses with blocking I/O."""

    @property
    def session(self) -> Session:
        """What the client's courses share."""
        ...

    def carry_out(self, course: Course[T]) -> T:
        """Follow a course to its result."""
        ...


class AsyncRunner(Protocol):
    """Carries out courses on an event loop."""

    @property
    def session(self) -> Session:
        """What the client's courses share."""
        ...

    async def carry_out(self, course: Course[T]) -> T:
        """Follow a course to its result."""
        ...


class Resource:
    """Methods of one kind of thing, blocking."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def run(self, call: Call[T]) -> T:
        """Make one call."""
        return self._runner.carry_out(self._runner.session.course(call))


class AsyncResource:
    """Methods of one kind of thing, for an event loop."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner

    async def run(self, call: Call[T]) -> T:
        """Make one call."""
        return await self._runner.carry_out(self._runner.session.course(call))


class Method(Generic[P, T]):
    """A blocking method made of a function that describes a call."""

    def __init__(self, describe: Callable[P, Call[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def __get__(self, resource: Resource, owner: type) -> Callable[P, T]:
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return resource.run(self._describe(*args, **kwargs))

        return _documented(method, self._describe)


class AsyncMethod(Generic[P, T]):
    """A coroutine method made of a function that describes a call."""

    def __init__(self, describe: Callable[P, Call[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def __get__(self, resource: AsyncResource, owner: type) -> Callable[P, Coroutine[Any, Any, T]]:
        async def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return await resource.run(self._describe(*args, **kwargs))

        return _documented(method, self._describe)


class ListMethod(Generic[P, T]):
    """A blocking method that walks through every page of a list."""

    def __init__(self, describe: Callable[P, Listing[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def __get__(self, resource: Resource, owner: type) -> Callable[P, Iterator[T]]:
        def method(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            listing = self._describe(*args, **kwargs)
            items, cursor = resource.run(listing.page(None))
            yield from items
            while cursor is not None:
                items, cursor = resource.run(listing.page(cursor))
                yield from items

        return _documented(method, self._describe)


class AsyncListMethod(Generic[P, T]):
    """An asynchronous method that walks through every page of a list."""

    def __init__(self, describe: Callable[P, Listing[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def __get__(self, resource: AsyncResource, owner: type) -> Callable[P, AsyncIterator[T]]:
        async def method(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
            listing = self._describe(*args, **kwargs)
            items, cursor = await resource.run(listing.page(None))
            for item in items:
                yield item
            while cursor is not None:
                items, cursor = await resource.run(listing.page(cursor))
                for item in items:
                    yield item

        return _documented(method, self._describe)


MethodT = TypeVar("MethodT", bound=Callable[..., Any])


def _documented(method: MethodT, source: Callable[..., Any]) -> MethodT:
    """Give a method the name, docstring and parameters of its source, for ``help()``."""
    method.__name__ = source.__name__
    method.__doc__ = source.__doc__
    parameters = inspect.signature(source).parameters.values()
    method.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    return method
