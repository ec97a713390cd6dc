"""Requests to servers of small models: sent once, for a bounded time, and read up to a limit."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpcore

from autotune_platform.apprentice.local.contract import Reason
from autotune_platform.outbound.connections import CONNECT_TIMEOUT_SECONDS, AddressRefusedError
from autotune_platform.outbound.http import text_headers, whole_url
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly

MOST_BYTES = 1_000_000
"""Of an answer: ten times what is kept of a text, since JSON may write a byte as six."""
_MOST_VALUES = 50_000
_OK, _REDIRECTS = 200, range(300, 400)
_REFUSALS = {
    400: Reason.REFUSED,
    401: Reason.REFUSED,
    403: Reason.REFUSED,
    404: Reason.NO_MODEL,
    413: Reason.REFUSED,
    422: Reason.REFUSED,
    429: Reason.BUSY,
    503: Reason.NOT_READY,
}


class NoAnswerError(Exception):
    """A server gave no answer that can be used.

    Attributes:
        detail: a sentence of ours.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


ServerKeys = Callable[[str, str], str | None]
"""Returns the key of a connection, by its id, for an address; None where there is none for it."""


def no_key(_connection_id: str, _url: str) -> None:
    """Return no key, where none can be decrypted."""


class ModelServers:
    """Sends requests; ``time_limit`` around them says for how long."""

    def __init__(
        self,
        connections: httpcore.ConnectionPool,
        *,
        keys: ServerKeys = no_key,
        bearer: str | None = None,
    ) -> None:
        """Send with a key, or with none.

        Args:
            keys: says with which key of a connection an address may be asked.
            bearer: the key.
        """
        self._connections = connections
        self._keys = keys
        self._bearer = bearer

    def with_key(self, connection_id: str | None, url: str) -> "ModelServers":
        """Return what asks an address with a connection's key; without one, as it is.

        Raises:
            NoAnswerError: the connection has no key for that address.
        """
        if connection_id is None:
            return self
        key = self._keys(connection_id, url)
        if key is None:
            raise NoAnswerError(Reason.REFUSED, "the connection of local has no key for local.url")
        return ModelServers(self._connections, bearer=key)

    def ask(
        self,
        url: str,
        body: Mapping[str, Any] | None = None,
        *,
        statuses: Mapping[int, Reason] | None = None,
    ) -> Any:
        """Return the JSON that a server answers with 200: to a POST of a body, else to a GET.

        Args:
            statuses: what other statuses mean with this kind of server.

        Raises:
            NoAnswerError: it answers with another status, with no JSON, too much, or not at all.
        """
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        method = "GET" if content is None else "POST"
        status, _, answer = self.send(method, url, headers, content)
        if status != _OK:
            raise refusal(status, statuses or {})
        return parsed(answer)

    def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of an answer, whatever its status.

        Raises:
            NoAnswerError: there is none, or its body is too large.
        """
        sent = {
            "Accept": "application/json",
            **headers,
            "Accept-Encoding": "identity",
            "User-Agent": "autotune",
        }
        if self._bearer is not None:
            sent["Authorization"] = f"Bearer {self._bearer}"
        answer = bytearray()
        try:
            with self._connections.stream(
                method,
                whole_url(url),
                headers=list(sent.items()),
                content=content,
                extensions={"timeout": {"connect": CONNECT_TIMEOUT_SECONDS}},
            ) as response:
                for part in response.iter_stream():
                    answer += part
                    if len(answer) > MOST_BYTES:
                        raise NoAnswerError(
                            Reason.TOO_LARGE, f"its answer has more than {MOST_BYTES} bytes"
                        )
                return response.status, text_headers(response), bytes(answer)
        except AddressRefusedError as error:
            raise NoAnswerError(
                Reason.ADDRESS_REFUSED, "its URL leads to no public address"
            ) from error
        except httpcore.TimeoutException as error:
            raise NoAnswerError(Reason.TIMED_OUT, "it did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise NoAnswerError(
                Reason.UNREACHABLE, f"it cannot be reached: {type(error).__name__}"
            ) from error


def refusal(status: int, statuses: Mapping[int, Reason]) -> NoAnswerError:
    """Return what a status means that is not 200."""
    if status in _REDIRECTS:
        return NoAnswerError(Reason.FAILED, f"it redirects ({status}), which is not followed")
    reason = statuses.get(status, _REFUSALS.get(status, Reason.FAILED))
    return NoAnswerError(reason, f"it answered {status}")


def parsed(answer: bytes) -> Any:
    """Return the JSON of an answer.

    Raises:
        NoAnswerError: it is none, or holds NaN, Infinity, or more than is read.
    """
    try:
        return parse_strictly(answer, most_values=_MOST_VALUES)
    except (json.JSONDecodeError, TooManyValuesError) as error:
        raise NoAnswerError(Reason.UNREADABLE, "its answer is no JSON that is read") from error
