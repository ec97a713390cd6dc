"""Requests to providers: no redirects, checked addresses, bounded size and time, never repeated."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpcore

from autotune_platform.ledger.calls import Refusal
from autotune_platform.outbound.connections import (
    CONNECT_TIMEOUT_SECONDS,
    AddressRefusedError,
    time_limit,
)
from autotune_platform.outbound.http import text_headers

_UNREACHED = (
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.PoolTimeout,
    # As long as a part of the request is missing, nobody answers it.
    httpcore.WriteError,
    httpcore.WriteTimeout,
)
_UNSENDABLE = (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol)
_LOST = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)


class NoAnswerError(Exception):
    """There is no answer that could be read.

    Attributes:
        refusal: why: ``provider_error`` where nobody was reached, ``outcome_unclear`` where the
            whole request was sent, ``result_malformed`` where the answer is too large,
            ``address_refused`` or ``rejected`` where nothing may be or can be sent.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class Exchanges:
    """Sends requests, each once."""

    def __init__(self, connections: httpcore.ConnectionPool) -> None:
        self._connections = connections

    def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | Iterator[bytes],
        *,
        length: int | None = None,
        seconds: float,
        most_bytes: int,
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body; of an error no more of the body than came.

        Args:
            length: of a content that comes in parts.
            seconds: for all of it together.
            most_bytes: of the answer's body.

        Raises:
            NoAnswerError: there is none, or none that can be read.
        """
        with (
            _as_refusals(seconds),
            time_limit(seconds),
            self._stream(method, url, headers, content, length, seconds) as response,
        ):
            return response.status, text_headers(response), body_of(response, most_bytes)

    @contextmanager
    def reading(
        self, url: str, headers: Mapping[str, str], *, seconds: float
    ) -> Iterator[httpcore.Response]:
        """Provide the answer to a GET, whose body is read within the context, in parts.

        Raises:
            NoAnswerError: there is none, or reading it within the context broke off or took too
                long.
        """
        with (
            _as_refusals(seconds),
            time_limit(seconds),
            self._stream("GET", url, headers, b"", None, seconds) as response,
        ):
            yield response

    @contextmanager
    def _stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | Iterator[bytes],
        length: int | None,
        seconds: float,
    ) -> Iterator[httpcore.Response]:
        sent = {
            "Accept": "application/json",
            **headers,
            "Accept-Encoding": "identity",
            "User-Agent": "autotune",
        }
        if length is not None:
            sent["Content-Length"] = str(length)
        timeouts = {"connect": CONNECT_TIMEOUT_SECONDS, "pool": seconds}
        with self._connections.stream(
            method,
            url,
            headers=list(sent.items()),
            content=content,
            extensions={"timeout": timeouts},
        ) as response:
            yield response


@contextmanager
def _as_refusals(seconds: float) -> Iterator[None]:
    try:
        yield
    except AddressRefusedError as error:
        refused = Refusal("address_refused", "the connection's URL leads to no public address")
        raise NoAnswerError(refused) from error
    except _UNREACHED as error:
        unreached = Refusal("provider_error", "the provider could not be reached")
        raise NoAnswerError(unreached) from error
    except _UNSENDABLE as error:
        unsendable = Refusal("rejected", "the connection's URL or key cannot be sent")
        raise NoAnswerError(unsendable) from error
    except _LOST as error:
        late = isinstance(error, httpcore.TimeoutException)
        raise NoAnswerError(_unclear(seconds if late else None)) from error


def _unclear(waited_seconds: float | None) -> Refusal:
    why = (
        "the provider closed the connection before it answered"
        if waited_seconds is None
        else f"the provider did not answer within {waited_seconds:g} s"
    )
    return Refusal("outcome_unclear", why, may_be_paid=True)


def body_of(response: httpcore.Response, most_bytes: int) -> bytes:
    """Return the body of an answer; of an error, what came of it, because its status says enough.

    Raises:
        NoAnswerError: it is too large.
        httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError: it is not whole.
    """
    failed = response.status >= 300
    answer = bytearray()
    try:
        for part in response.iter_stream():
            answer += part
            if len(answer) > most_bytes:
                break
    except _LOST:
        if not failed:
            raise
    if len(answer) <= most_bytes:
        return bytes(answer)
    if failed:
        return b""
    raise NoAnswerError(
        Refusal(
            "result_malformed", f"the answer has more than {most_bytes} bytes", may_be_paid=True
        )
    )
