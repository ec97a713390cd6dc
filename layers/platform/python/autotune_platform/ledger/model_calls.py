"""Calling language models: one question, one answer, and never a second time by itself."""

import httpcore

from autotune_platform.ledger.calls import HttpQuestion, Outcome, Question, Refusal
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.registry import format_of
from autotune_platform.outbound.connections import (
    CONNECT_TIMEOUT_SECONDS,
    AddressRefusedError,
    time_limit,
)
from autotune_platform.outbound.http import text_headers

MAX_ANSWER_BYTES = 10_000_000
"""Most bytes of an answer; what a row may answer at most is less."""

_UNREACHED = (
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.PoolTimeout,
    # As long as a part of the question is missing, nobody answers it.
    httpcore.WriteError,
    httpcore.WriteTimeout,
)
_UNSENDABLE = (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol)
_LOST = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)


class ModelCalls:
    """Asks providers over HTTPS: no redirects, checked addresses, bounded size and time."""

    def __init__(self, connections: httpcore.ConnectionPool) -> None:
        self._connections = connections

    def ask(self, connection: Connection, key: str | None, question: Question) -> Outcome:
        """Ask once, within the connection's ``timeout_seconds`` in all.

        Whatever goes wrong is a ``Refusal``: nothing is raised for what the other side does. It is
        ``outcome_unclear`` where the whole question was sent and no answer came.

        Args:
            key: the connection's; None where it has none.
        """
        spoken = format_of(connection.provider)
        sent = spoken.question(connection, key, question)
        try:
            status, headers, body = self._exchange(sent, connection.timeout_seconds)
        except _NoAnswerError as error:
            return error.refusal
        return spoken.outcome(status, headers, body, key)

    def _exchange(
        self, sent: HttpQuestion, timeout_seconds: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body; of an error no more of the body than came.

        Raises:
            _NoAnswerError: there is none, or none that can be read.
        """
        headers = {
            **sent.headers,
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "autotune",
        }
        timeouts = {"connect": CONNECT_TIMEOUT_SECONDS, "pool": timeout_seconds}
        try:
            with (
                time_limit(timeout_seconds),
                self._connections.stream(
                    "POST",
                    sent.url,
                    headers=list(headers.items()),
                    content=sent.body,
                    extensions={"timeout": timeouts},
                ) as response,
            ):
                return response.status, text_headers(response), _body(response)
        except AddressRefusedError as error:
            refused = Refusal("address_refused", "the connection's URL leads to no public address")
            raise _NoAnswerError(refused) from error
        except _UNREACHED as error:
            unreached = Refusal("provider_error", "the provider could not be reached")
            raise _NoAnswerError(unreached) from error
        except _UNSENDABLE as error:
            unsendable = Refusal("rejected", "the connection's URL or key cannot be sent")
            raise _NoAnswerError(unsendable) from error
        except _LOST as error:
            late = isinstance(error, httpcore.TimeoutException)
            raise _NoAnswerError(_unclear(timeout_seconds if late else None)) from error


class _NoAnswerError(Exception):
    """There is no answer that a format could read."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


def _unclear(waited_seconds: float | None) -> Refusal:
    why = (
        "the provider closed the connection before it answered"
        if waited_seconds is None
        else f"the provider did not answer within {waited_seconds:g} s"
    )
    return Refusal("outcome_unclear", why, may_be_paid=True)


def _body(response: httpcore.Response) -> bytes:
    """Return the body of an answer; of an error, what came of it, because its status says enough.

    Raises:
        _NoAnswerError: it is too large.
        httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError: it is not whole.
    """
    failed = response.status >= 300
    answer = bytearray()
    try:
        for part in response.iter_stream():
            answer += part
            if len(answer) > MAX_ANSWER_BYTES:
                break
    except _LOST:
        if not failed:
            raise
    if len(answer) <= MAX_ANSWER_BYTES:
        return bytes(answer)
    if failed:
        return b""
    raise _NoAnswerError(
        Refusal(
            "result_malformed",
            f"the answer has more than {MAX_ANSWER_BYTES} bytes",
            may_be_paid=True,
        )
    )
