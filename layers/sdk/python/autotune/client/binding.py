"""Binds functions that describe calls to clients that make them.

``get = Method(get_task)`` gives a resource a method with the parameters and the docstring of
``get_task``. It returns what the described call returns, or a coroutine of it where the resource is
an ``AsyncResource``. ``ListMethod`` gives an iterator, or an asynchronous one.
"""

import inspect
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cached_property
from types import MethodType
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from autotune.client.arguments import NotGiven, not_given
from autotune.client.calls import CallOptions, Listing
from autotune.client.exchange import Course, Described, Session

P = ParamSpec("P")
T = TypeVar("T")
BlockingT = TypeVar("BlockingT", bound="Resource")
AsynchronousT = TypeVar("AsynchronousT", bound="AsyncResource")
ResourceT = TypeVar("ResourceT", bound="Resource | AsyncResource")


class _Client(Protocol):
    is_async: ClassVar[bool]

    @property
    def session(self) -> Session:
        """What the client's courses share."""
        ...


class Runner(_Client, Protocol):
    """Carries out courses with blocking I/O."""

    def carry_out(self, course: Course[T]) -> T:
        """Follow a course to its result."""
        ...


class AsyncRunner(_Client, Protocol):
    """Carries out courses on an event loop."""

    async def carry_out(self, course: Course[T]) -> T:
        """Follow a course to its result."""
        ...


class Resource:
    """Methods of one kind of thing, blocking."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def carry_out(self, described: Described[T]) -> T:
        """Make one call, or several that lead to one result."""
        return self._runner.carry_out(self._runner.session.course_of(described))

    def method(self, describe: Callable[P, Described[T]]) -> Callable[P, T]:
        """Return the method that runs what ``describe`` returns."""

        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return self.carry_out(describe(*args, **kwargs))

        return method

    def list_method(self, describe: Callable[P, Listing[T]]) -> Callable[P, Iterator[T]]:
        """Return the method that walks through every page of a list."""

        def method(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            page = describe(*args, **kwargs)
            items, cursor = self.carry_out(page(None))
            yield from items
            while cursor is not None:
                items, cursor = self.carry_out(page(cursor))
                yield from items

        return method


class AsyncResource:
    """Methods of one kind of thing, for an event loop."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner

    async def carry_out(self, described: Described[T]) -> T:
        """Make one call, or several that lead to one result."""
        return await self._runner.carry_out(self._runner.session.course_of(described))

    def method(self, describe: Callable[P, Described[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        """Return the coroutine method that runs what ``describe`` returns."""

        async def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return await self.carry_out(describe(*args, **kwargs))

        return method

    def list_method(self, describe: Callable[P, Listing[T]]) -> Callable[P, AsyncIterator[T]]:
        """Return the asynchronous method that walks through every page of a list."""

        async def method(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
            page = describe(*args, **kwargs)
            items, cursor = await self.carry_out(page(None))
            for item in items:
                yield item
            while cursor is not None:
                items, cursor = await self.carry_out(page(cursor))
                for item in items:
                    yield item

        return method


class _Member:
    """An attribute of a resource that its class alone does not have: a call needs a client."""

    def __init__(self, source: Callable[..., Any]) -> None:
        self._source = source
        self.__doc__ = source.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def _require(self, resource: object, owner: type) -> None:
        if resource is None:
            place = _place_of(owner)
            # `hasattr`, `help` and `inspect` read from classes too, and expect this type.
            raise AttributeError(
                f"{self._name} is a method of a client's {place}: "
                f"call client.{place}.{self._name}(...)"
            )


class _DescribedMember(_Member):
    """A method made of a function that describes what the method does."""

    @cached_property
    def _signature(self) -> inspect.Signature:
        """The parameters of the method, with ``CallOptions`` and the like spelled out."""
        parameters = list(inspect.signature(self._source).parameters.values())
        if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
            parameters[-1:] = _spelled_out(parameters[-1])
        return inspect.Signature(parameters)

    def _describe(self, *args: Any, **kwargs: Any) -> Any:
        # Python lets everything into `**options`, and so into `Call`.
        for name in kwargs.keys() - self._signature.parameters.keys():
            function = self._source.__name__
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        return self._source(*args, **kwargs)

    def _documented(self, method: Any) -> Any:
        """Give a method the name, docstring and parameters of its source, for ``help()``."""
        method.__name__ = self._source.__name__
        method.__doc__ = self._source.__doc__
        method.__signature__ = self._signature
        return method


class Method(_DescribedMember, Generic[P, T]):
    """A method made of a function that describes a call, or several that lead to one result."""

    def __init__(self, describe: Callable[P, Described[T]]) -> None:
        super().__init__(describe)

    @overload
    def __get__(self, resource: Resource, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, resource: AsyncResource, owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Any, owner: type) -> Any:
        self._require(resource, owner)
        return self._documented(resource.method(self._describe))


class ListMethod(_DescribedMember, Generic[P, T]):
    """A method that walks through every page of a list."""

    def __init__(self, describe: Callable[P, Listing[T]]) -> None:
        super().__init__(describe)

    @overload
    def __get__(self, resource: Resource, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, resource: AsyncResource, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, resource: Any, owner: type) -> Any:
        self._require(resource, owner)
        return self._documented(resource.list_method(self._describe))


class OwnMethod(_Member, Generic[ResourceT, P, T]):
    """Decorates a method that one flavour of a resource defines itself."""

    def __init__(self, function: Callable[Concatenate[ResourceT, P], T]) -> None:
        super().__init__(function)

    def __get__(self, resource: ResourceT, owner: type) -> Callable[P, T]:
        self._require(resource, owner)
        return MethodType(self._source, resource)


class Part(Generic[BlockingT, AsynchronousT]):
    """A client's resource, of the client's own flavour; made when it is first read."""

    def __init__(self, blocking: type[BlockingT], asynchronous: type[AsynchronousT]) -> None:
        self._blocking = blocking
        self._asynchronous = asynchronous

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, client: Runner, owner: type) -> BlockingT: ...
    @overload
    def __get__(self, client: AsyncRunner, owner: type) -> AsynchronousT: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            raise AttributeError(
                f"{self._name} belongs to a client: call {owner.__name__}().{self._name}"
            )
        kind = self._asynchronous if client.is_async else self._blocking
        return vars(client).setdefault(self._name, kind(client))


class InnerPart(Generic[BlockingT, AsynchronousT]):
    """A resource within a resource, of the same flavour; made when it is first read."""

    def __init__(self, blocking: type[BlockingT], asynchronous: type[AsynchronousT]) -> None:
        self._blocking = blocking
        self._asynchronous = asynchronous

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, resource: Resource, owner: type) -> BlockingT: ...
    @overload
    def __get__(self, resource: AsyncResource, owner: type) -> AsynchronousT: ...
    def __get__(self, resource: Any, owner: type) -> Any:
        if resource is None:
            place = _place_of(owner)
            raise AttributeError(
                f"{self._name} belongs to a client's {place}: call client.{place}.{self._name}"
            )
        kind = self._blocking if isinstance(resource, Resource) else self._asynchronous
        own = vars(resource)
        return own.setdefault(self._name, kind(own["_runner"]))


def _place_of(owner: type) -> str:
    """Return where a client has a resource of this class, such as ``reward_urls``."""
    within: str | None = getattr(owner, "_place", None)
    if within is not None:
        return within
    place = re.sub(r"(?<!^)(?=[A-Z])", "_", owner.__name__.removeprefix("Async"))
    return re.sub("_methods$", "s", place.lower())


def _spelled_out(options: inspect.Parameter) -> list[inspect.Parameter]:
    """Return a parameter for each option of ``**options``; those of every method come last."""
    (kind,) = get_args(options.annotation)
    hints = get_type_hints(get_origin(kind) or kind)
    spelled_out = []
    for name in sorted(hints, key=lambda name: name in CallOptions.__annotations__):
        is_generic = getattr(hints[name], "__parameters__", ())
        annotation = hints[name][get_args(kind)] if is_generic else hints[name]
        default = not_given if NotGiven in get_args(annotation) else None
        spelled_out.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    return spelled_out
