"""One connection's way to its provider: bounded requests, no redirects, checked addresses."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.exchanges import Exchanges, NoAnswerError, body_of
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.documents import document_of
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.outbound.http import text_headers

MAX_TOLD_BYTES = 1_000_000
"""Most bytes of what a provider tells of a job; results are read otherwise."""

FETCH_SECONDS = 240
"""Longest time that results of a job may take to come."""

_REQUEST_SECONDS = 60


@dataclass(frozen=True)
class Reply:
    """What a provider answered; ``document`` is None where it is not JSON or too large."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def succeeded(self) -> bool:
        """Whether the status is of the 200s."""
        return 200 <= self.status < 300

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return document_of(self.body)


class FetchError(Exception):
    """Results could not be read to their end.

    Attributes:
        refusal: why.
        status: as HTTP has it; None where no answer came, or it broke off.
        reply: the answer where it was an error.
    """

    def __init__(
        self, refusal: Refusal, *, status: int | None = None, reply: Reply | None = None
    ) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.status = status
        self.reply = reply


@dataclass(frozen=True)
class Session:
    """Sends requests of one connection, with one version of its key, or signed with its role."""

    connection: Connection
    key: str | None
    exchanges: Exchanges
    roles: RoleSessions | None = None

    @property
    def base_url(self) -> str:
        """Where the provider's API begins, without a slash at its end."""
        return self.connection.base_url.rstrip("/")

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | Iterator[bytes] = b"",
        *,
        length: int | None = None,
        seconds: float = _REQUEST_SECONDS,
        most_bytes: int = MAX_TOLD_BYTES,
    ) -> Reply | Refusal:
        """Send one request, once.

        Args:
            length: of a content that comes in parts.

        Returns:
            The reply, whatever its status. Else a refusal: ``outcome_unclear`` where the whole
            request was sent, or may have been, and no answer came.
        """
        try:
            status, received, body = self.exchanges.exchange(
                method,
                url,
                headers,
                content,
                length=length,
                seconds=seconds,
                most_bytes=most_bytes,
            )
        except NoAnswerError as error:
            return error.refusal
        return Reply(status, received, body)

    def signed(
        self,
        service: Literal["bedrock", "s3"],
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> dict[str, str] | Refusal:
        """Return headers with a signature of the connection's role; it may ask for a session."""
        assert self.roles is not None, "a connection with a role is given what assumes it"
        return self.roles.signed(self.connection, service, method, url, headers, body)

    def ask_signed(
        self,
        service: Literal["bedrock", "s3"],
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | Iterator[bytes] = b"",
        *,
        length: int | None = None,
        seconds: float = _REQUEST_SECONDS,
    ) -> Reply | Refusal:
        """Send one request with a signature, once, as ``ask`` does.

        Where the role cannot be assumed it is refused, and nothing is sent.
        """
        body = content if isinstance(content, bytes) else None
        signed = self.signed(service, method, url, headers, body)
        if isinstance(signed, Refusal):
            return signed
        return self.ask(method, url, signed, content, length=length, seconds=seconds)

    def fetch(
        self, url: str, headers: Mapping[str, str], *, seconds: float = FETCH_SECONDS
    ) -> Generator[bytes, None, None]:
        """Yield the body of the answer to a GET, in parts.

        Raises:
            FetchError: the answer is no 200, or the body broke off before its end.
        """
        try:
            with self.exchanges.reading(url, headers, seconds=seconds) as response:
                if response.status != HTTPStatus.OK:
                    refusal = Refusal("provider_error", f"the provider answered {response.status}")
                    body = body_of(response, MAX_TOLD_BYTES)
                    reply = Reply(response.status, text_headers(response), body)
                    raise FetchError(refusal, status=response.status, reply=reply)
                yield from response.iter_stream()
        except NoAnswerError as error:
            raise FetchError(error.refusal) from error
