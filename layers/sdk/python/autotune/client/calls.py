"""API calls as values: what to send and how to read the answer. No I/O happens here."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar, Unpack, cast, overload
from urllib.parse import quote, urlencode

import httpx

from autotune.client.answers import read_model
from autotune.client.arguments import NotGiven, Timeout, not_given
from autotune.client.errors import InvalidInputError
from autotune.protocol.limits import MAX_WAIT_SECONDS
from autotune.protocol.types import RequestModel, ResponseModel

API_PREFIX = "/api/v1"

MAX_TIMEOUT_SECONDS = 86_400
MAX_EXTRA_HEADERS_BYTES = 8_192
"""API Gateway takes 10,240 bytes of headers in all."""

_RESERVED_PREFIX = "x-autotune-"
_RESERVED_HEADERS = frozenset(
    {"content-length", "content-type", "idempotency-key", "transfer-encoding"}
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=ResponseModel)

Reader: TypeAlias = Callable[[httpx.Response], T]


class CallOptions(TypedDict, total=False):
    """What every method takes besides its own arguments.

    ``timeout`` is in seconds, above 0 and up to 86,400, and holds for each HTTP attempt, as httpx
    applies it; the client's own unless given. ``extra_headers`` go with each attempt, at most
    8,192 bytes in all. They cannot be those that Autotune sets: ``X-Autotune-*``, ``Content-Type``,
    ``Idempotency-Key``, ``Content-Length`` and ``Transfer-Encoding``.
    """

    timeout: Timeout
    extra_headers: Mapping[str, str] | None


def split_options(options: CallOptions) -> tuple[dict[str, Any], CallOptions]:
    """Return a method's own arguments apart from what every method takes."""
    own: dict[str, Any] = dict(options)
    shared = {name: own.pop(name) for name in CallOptions.__annotations__ if name in own}
    return own, cast("CallOptions", shared)


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    """One call of the API.

    Attributes:
        path: below the base URL, percent-encoded.
        query: without ``?``.
        read: turns a successful answer into the result.
        idempotency_key: makes a POST safe to repeat.
        is_idempotent: a POST that is safe to repeat as it is, because it says how things shall be.
        hold_seconds: how long the server may keep the request open on purpose (``?wait=``).
        timeout: of each attempt; taken as it is, also where it is shorter than ``hold_seconds``.
        extra_headers: sent with each attempt.

    Raises:
        InvalidInputError: ``timeout`` or a header is none that can be sent.
    """

    method: str
    path: str
    read: Reader[T]
    query: str = ""
    body: bytes = b""
    idempotency_key: str | None = None
    is_idempotent: bool = False
    hold_seconds: float = 0
    timeout: Timeout = not_given
    extra_headers: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        _check_timeout(self.timeout)
        _check_headers(self.extra_headers or {})

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return self.method != "POST" or self.is_idempotent or self.idempotency_key is not None


Listing: TypeAlias = Callable[[str | None], Call[tuple[list[T], str | None]]]
"""A list that comes in pages: returns the call for the page at a cursor, the first for None.

What is read is the page's items and the cursor of the next page, None after the last.
"""


def call(
    method: str,
    *segments: str,
    read: Reader[T],
    query: Mapping[str, str | None] | None = None,
    body: RequestModel | bytes = b"",
    wait: int = 0,
    most_wait: int = MAX_WAIT_SECONDS,
    idempotency_key: str | None = None,
    is_idempotent: bool = False,
    **options: Unpack[CallOptions],
) -> Call[T]:
    """Describe a call of the path that ``segments`` make below the API's prefix.

    Args:
        wait: seconds that the server may hold the request, 0 to 20.
        most_wait: the longest, where the path takes another.

    Raises:
        InvalidInputError: a segment is empty, or an argument is out of its range.
    """
    if not 0 <= wait <= most_wait:
        raise InvalidInputError.at("wait", f"0 to {most_wait} seconds")
    if not all(segments):  # an empty one would turn one thing into the list of all
        raise InvalidInputError.at("id", "a non-empty id")
    parameters = {**(query or {}), "wait": str(wait) if wait else None}
    given = {name: value for name, value in parameters.items() if value is not None}
    return Call(
        method=method,
        path="/".join([API_PREFIX, *(quote(segment, safe="") for segment in segments)]),
        read=read,
        query=urlencode(given, quote_via=quote),
        body=body if isinstance(body, bytes) else body_of(body),
        idempotency_key=idempotency_key,
        is_idempotent=is_idempotent,
        hold_seconds=wait,
        **options,
    )


def listing(
    *segments: str,
    read: Reader[tuple[list[T], str | None]],
    page_size: int | None = None,
    query: Mapping[str, str | None] | None = None,
    **options: Unpack[CallOptions],
) -> Listing[T]:
    """Describe a list; ``query`` is named as on the wire."""
    limit = None if page_size is None else str(page_size)

    def page(cursor: str | None) -> Call[tuple[list[T], str | None]]:
        parameters = {**(query or {}), "limit": limit, "nextToken": cursor}
        return call("GET", *segments, read=read, query=parameters, **options)

    return page


def body_of(request: RequestModel) -> bytes:
    """Serialise a request, only the fields that were given."""
    return request.model_dump_json(by_alias=True, exclude_unset=True).encode()


@overload
def returning(model: type[ModelT]) -> Reader[ModelT]: ...
@overload
def returning(model: type[ModelT], pick: Callable[[ModelT], T]) -> Reader[T]: ...
def returning(model: type[ModelT], pick: Callable[[ModelT], Any] | None = None) -> Reader[Any]:
    """Return a reader of ``model``, or of what ``pick`` takes from it."""

    def read(response: httpx.Response) -> Any:
        answer = read_model(response, model)
        return answer if pick is None else pick(answer)

    return read


def nothing(_response: httpx.Response) -> None:
    """Read an answer without a body."""


def _check_timeout(timeout: Timeout) -> None:
    if isinstance(timeout, NotGiven | httpx.Timeout):
        return
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not (is_number and 0 < timeout <= MAX_TIMEOUT_SECONDS):
        raise InvalidInputError.at("timeout", f"seconds above 0 and up to {MAX_TIMEOUT_SECONDS}")


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
            raise InvalidInputError.at("extra_headers", f"names of headers, not {name!r}")
        lowered = name.lower()
        if lowered.startswith(_RESERVED_PREFIX) or lowered in _RESERVED_HEADERS:
            raise InvalidInputError.at(
                f"extra_headers.{name}", "another header: Autotune sets this one itself"
            )
        # The value may be a credential, so the error leaves it out.
        if not (isinstance(value, str) and _HEADER_VALUE.fullmatch(value)):
            raise InvalidInputError.at(
                f"extra_headers.{name}", "visible ASCII, with spaces only inside"
            )
    if sum(len(name) + len(value) for name, value in headers.items()) > MAX_EXTRA_HEADERS_BYTES:
        raise InvalidInputError.at(
            "extra_headers", f"at most {MAX_EXTRA_HEADERS_BYTES} bytes in all"
        )
