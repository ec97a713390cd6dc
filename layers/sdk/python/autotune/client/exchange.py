"""The course of a call, without I/O: sign, send, judge the answer, pause, send again.

A course is a generator. It yields what is to be done, such as an ``Attempt`` or a ``Pause``, is
sent what came of it, and returns the result. ``AutotuneClient`` and ``AsyncAutotuneClient`` carry
the same courses out, one with blocking I/O and one without.
"""

import random
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import httpx

from autotune.client import errors
from autotune.client.answers import error_of, retry_after
from autotune.client.arguments import NotGiven, Timeout
from autotune.client.calls import Call, nothing
from autotune.client.configuration import Configuration, find_configuration, installed_version
from autotune.protocol.ids import new_id
from autotune.protocol.retry import RetryPolicy
from autotune.protocol.signing import sign_api_request

IDEMPOTENCY_KEY_HEADER = "idempotency-key"

DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_MAX_RETRIES = 4

BACK_OFF = RetryPolicy(first_seconds=0.5, longest_seconds=8)
LONGEST_RETRY_AFTER_SECONDS = 60.0
"""A server that asks for more patience than this is left to the caller."""

FETCHED_PIECE_BYTES = 262_144
"""How much of a file is held at a time."""

_HOLD_MARGIN_SECONDS = 10.0

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One HTTP request, to be answered with a response or with the error that httpx raised.

    Its fields are those of ``build_request`` in httpx.
    """

    method: str
    url: str
    headers: dict[str, str]
    content: bytes
    timeout: httpx.Timeout

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Build the request with the client that will send it, for its headers and hooks."""
        return http.build_request(**vars(self))


@dataclass(frozen=True)
class Pause:
    """Let ``seconds`` pass."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """Read what a URL leads to that carries its own permission; answered as an ``Attempt`` is.

    Attributes:
        take: gets the body of a success piece by piece, as it was sent; the response comes without.
    """

    url: str
    take: Callable[[bytes], None]
    timeout: httpx.Timeout

    def request(self) -> httpx.Request:
        """Build the request alone: no key, signature or default header of the client goes along.

        The host is another than the API's, and refuses a second kind of permission.
        """
        return httpx.Request(
            "GET",
            self.url,
            headers={"accept": "*/*", "accept-encoding": "identity"},
            extensions={"timeout": self.timeout.as_dict()},
        )


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Put a body where a URL leads to that carries its own permission; answered as an ``Attempt``.

    Attributes:
        headers: all that are sent, the body's length among them; the permission is for these.
        body: returns it from its beginning, for each attempt and either flavour of client.
    """

    url: str
    headers: Mapping[str, str]
    body: Callable[[], "UploadBody"]
    timeout: httpx.Timeout

    def request(self) -> httpx.Request:
        """Build the request alone: no key, signature or default header of the client goes along."""
        return httpx.Request(
            "PUT",
            self.url,
            # httpx itself adds it only to requests whose body it encodes.
            headers={"host": httpx.URL(self.url).netloc.decode(), **self.headers},
            stream=self.body(),
            extensions={"timeout": self.timeout.as_dict()},
        )


class UploadBody(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that comes piece by piece."""


@dataclass(frozen=True)
class Work:
    """Call ``do`` where it may block, such as for files; answered with None."""

    do: Callable[[], None]


Step: TypeAlias = Attempt | Pause | Fetch | Upload | Work
Reply: TypeAlias = httpx.Response | httpx.RequestError | None
Course: TypeAlias = Generator[Step, Reply, T]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What all courses of one client share.

    Attributes:
        max_retries: attempts after the first.
        jitter: returns a number between its two arguments; replaced in tests.
    """

    configuration: Configuration
    timeout: httpx.Timeout
    max_retries: int
    user_agent: str
    jitter: Callable[[float, float], float] = random.uniform

    def course_of(self, described: "Described[T]") -> Course[T]:
        """Return the course of a call or of a plan."""
        return self.course(described) if isinstance(described, Call) else described(self)

    def course(self, call: Call[T]) -> Course[T]:
        """Carry one call through its attempts.

        Raises:
            APIError: the server refused, or still failed at the last attempt.
            ConnectionFailedError: no attempt got an answer.
        """
        for retries in range(self.max_retries + 1):
            reply = yield self._attempt(call)
            if isinstance(reply, httpx.Response) and reply.is_success:
                return call.read(reply)
            if isinstance(reply, httpx.Response) and _done_before(call, reply, retries):
                return call.read(reply)
            pause = self.pause_after(reply, retries, repeatable=call.repeatable)
            if pause is None:
                break
            yield Pause(pause)
        failure = failure_of(reply)
        if self.configuration.is_local and isinstance(reply, httpx.ConnectError):
            failure.add_note("is the local stack up? `make up` starts it")
        raise failure

    def pause_after(self, reply: Reply, retries: int, *, repeatable: bool) -> float | None:
        """Return the seconds until the next attempt, or None if there is to be none.

        Args:
            retries: attempts before the one that was answered.
            repeatable: whether sending it twice does no more than sending it once.
        """
        if retries == self.max_retries or not _may_repeat(reply, repeatable=repeatable):
            return None
        asked = retry_after(reply) if isinstance(reply, httpx.Response) else None
        if asked is not None and asked > LONGEST_RETRY_AFTER_SECONDS:
            return None
        # Full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
        # On top of Retry-After, so that those who were given the same moment do not meet at it.
        return (asked or 0.0) + self.jitter(0.0, BACK_OFF.ceiling(retries + 1))

    def timeout_for(self, timeout: Timeout, *, hold_seconds: float = 0) -> httpx.Timeout:
        """Return a call's own timeout, or the client's with the time of a long poll."""
        if not isinstance(timeout, NotGiven):
            return httpx.Timeout(timeout)
        own = self.timeout
        if not hold_seconds or own.read is None:
            return own
        read = max(own.read, hold_seconds + _HOLD_MARGIN_SECONDS)
        return httpx.Timeout(connect=own.connect, read=read, write=own.write, pool=own.pool)

    def _attempt(self, call: Call[T]) -> Attempt:
        extra = {name.lower(): value for name, value in (call.extra_headers or {}).items()}
        headers = {"accept": "application/json", "user-agent": self.user_agent, **extra}
        # Each attempt is signed anew: the server refuses a request id that it has seen.
        headers |= sign_api_request(
            key_id=self.configuration.key_id,
            secret=self.configuration.secret,
            method=call.method,
            path=call.path,
            query=call.query,
            body=call.body,
            request_id=new_id("req"),
        )
        if call.body:
            headers["content-type"] = "application/json"
        if call.idempotency_key is not None:
            headers[IDEMPOTENCY_KEY_HEADER] = call.idempotency_key
        url = f"{self.configuration.base_url}{call.path}"
        return Attempt(
            method=call.method,
            url=f"{url}?{call.query}" if call.query else url,
            headers=headers,
            content=call.body,
            timeout=self.timeout_for(call.timeout, hold_seconds=call.hold_seconds),
        )


Plan: TypeAlias = Callable[[Session], Course[T]]
"""Several calls that lead to one result, such as those of waiting."""

Described: TypeAlias = Call[T] | Plan[T]


def open_session(
    *, base_url: str | None, api_key: str | None, timeout: float | httpx.Timeout, max_retries: int
) -> Session:
    """Find address and key, and check the settings.

    Raises:
        ConfigurationError: something is missing or cannot be used.
    """
    if max_retries < 0:
        raise errors.ConfigurationError("max_retries must be 0 or more")
    return Session(
        configuration=find_configuration(base_url=base_url, api_key=api_key),
        timeout=httpx.Timeout(timeout),
        max_retries=max_retries,
        user_agent=f"autotune-python/{installed_version()}",
    )


def closed_client() -> errors.InvalidInputError:
    """Return the error of a call on a client that was closed before."""
    expected = "one that is open: this client was closed"
    return errors.InvalidInputError.at("client", expected)


def _may_repeat(reply: Reply, *, repeatable: bool) -> bool:
    if isinstance(reply, httpx.Response):
        # 425 and 429 say that nothing was done; after the others only a repeatable call is safe.
        return reply.status_code in (425, 429) or (
            repeatable and (reply.status_code == 408 or reply.status_code >= 500)
        )
    if isinstance(reply, httpx.UnsupportedProtocol | httpx.LocalProtocolError | httpx.ProxyError):
        return False
    never_sent = isinstance(reply, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return never_sent or repeatable


def _done_before(call: Call[T], response: httpx.Response, retries: int) -> bool:
    """Return whether a deletion is missing its target because a lost attempt had removed it."""
    return call.read is nothing and response.status_code == 404 and retries > 0


def failure_of(reply: Reply) -> errors.AutotuneError:
    """Return the error to raise for an answer that is no success, or for none."""
    if isinstance(reply, httpx.Response):
        return error_of(reply)
    if reply is None:
        raise AssertionError("an attempt was answered with nothing")
    request = reply.request
    place = f"{request.method} {request.url.copy_with(query=None)}"
    if isinstance(reply, httpx.TimeoutException):
        failure: errors.AutotuneError = errors.RequestTimeoutError(
            f"{place}: no answer in time ({_kind(reply)})"
        )
    else:
        failure = errors.ConnectionFailedError(f"{place}: {reply or _kind(reply)}")
    failure.__cause__ = reply
    return failure


def _kind(error: httpx.RequestError) -> str:
    return type(error).__name__
